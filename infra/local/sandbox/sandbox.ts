// The provider sandbox: implements the APIs of the ten providers, an SMTP server and Google's
// Postmaster Tools on this machine, keeps received mail in an inbox and posts the providers'
// webhooks.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createAccounts } from "./accounts.ts";
import { startBounceMailboxes } from "./bounce-mailboxes.ts";
import { openInbox } from "./inbox.ts";
import { handleLocalRequest, type LocalRequest, type LocalResponse } from "./inbox-routes.ts";
import { createServiceAccountKey, startGoogle } from "./postmaster-tools.ts";
import { type ServerContext, startProviderServer } from "./provider-server.ts";
import { createProviders } from "./providers/providers.ts";
import { openResources } from "./resources.ts";
import { loadRootKeys } from "./root-keys.ts";
import { openSchedule } from "./schedule.ts";
import { smtpCredentials, startSmtpServer } from "./smtp-server.ts";
import { createSnsTopics } from "./sns.ts";
import type { AcceptedMail, SandboxAccount, SandboxProvider } from "./types.ts";
import { createWebhookSender } from "./webhook-sender.ts";
import { type ObservedApiCall, openWebhookTargets } from "./webhook-targets.ts";

export interface SandboxSettings {
  /** `:memory:` stores nothing. */
  dataDir: string;
  /** The URL of the service, for the accounts page. */
  publicUrl: () => string;
}

export interface Sandbox {
  /** The origin of each provider's API, and of Google, for PROVIDER_URL_<KEY>. */
  originByProvider: Record<string, string>;
  /** The value of SNS_URL. */
  snsUrl: string;
  /** The secret of the system sender by name. Its value is JSON with the credentials. */
  secrets: Record<string, string>;
  /** The value of SYSTEM_SENDER, which uses the secret in `secrets`. */
  systemSenderSetting: string;
  /** Responds to /_local/inbox and /_local/sandbox. Returns undefined for any other path. */
  handleLocalRequest(request: LocalRequest): Promise<LocalResponse | undefined>;
  /** Call it for each POST, PUT and DELETE of /api/v1/sending-configs*. */
  observeApiCall(call: ObservedApiCall): void;
  /** Posts all pending webhooks without waiting for their time. */
  flushWebhooks(): Promise<void>;
  stats(): { accepted: number; webhooksPosted: number; webhooksFailed: number };
  stop(): Promise<void>;
}

export async function openSandbox({ dataDir, publicUrl }: SandboxSettings): Promise<Sandbox> {
  const folder = dataDir === ":memory:" ? undefined : join(dataDir, "sandbox");
  if (folder) mkdirSync(folder, { recursive: true });
  const keys = loadRootKeys(folder);
  const accounts = createAccounts(keys.root);
  const inbox = openInbox(folder && join(folder, "inbox.json"));
  const webhookTargets = openWebhookTargets(folder && join(folder, "hooks.jsonl"), accounts);
  const topics = createSnsTopics(keys, webhookTargets);
  const providers = createProviders(topics);
  const webhookSender = createWebhookSender(webhookTargets, topics.ensureConfirmed);
  let accepted = 0;

  function accept(
    drafts: AcceptedMail[],
    provider: SandboxProvider,
    account: SandboxAccount,
  ): void {
    accepted += drafts.length;
    const mails = drafts.map((draft) => inbox.add(draft, provider.key, account.id));
    webhookSender.scheduleEvents(mails, { provider, account });
  }

  const schedule = openSchedule(folder && join(folder, "scheduled.json"), ({ drafts, ...due }) => {
    const provider = providers.find(({ key }) => key === due.provider);
    const account = accounts.findById(due.account);
    if (provider && account) accept(drafts, provider, account);
  });
  const resources = openResources(folder && join(folder, "resources.json"));
  const serverContext: ServerContext = {
    ...{ accounts, accept, schedule, inbox, resources, webhookTargets },
  };
  const servers = await Promise.all(
    providers.map(async (provider) => {
      const server = await startProviderServer(
        provider,
        provider.key === "ses" ? { ...serverContext, servePublic: topics.serveSns } : serverContext,
      );
      return [provider.key, server] as const;
    }),
  );
  const bounceMailboxes = await startBounceMailboxes(accounts);
  const smtpServer = await startSmtpServer({
    accounts,
    accept(drafts, account, returnPath) {
      accepted += drafts.length;
      for (const draft of drafts) {
        inbox.add(draft, "smtp", account.id);
        bounceMailboxes.report(draft, returnPath, account);
      }
    },
  });
  // One RSA key is enough for SNS and for the service accounts at Google.
  const getPrivateKey = async () => (await keys.snsSigningKey()).privateKey;
  const google = await startGoogle({ accounts, inbox, getPrivateKey });
  const originByProvider = Object.fromEntries([
    ...servers.map(([key, { origin }]) => [key, origin]),
    ["smtp", smtpServer.url],
    ["imap", bounceMailboxes.url],
    ["google", google.origin],
  ]);
  const postmark = providers.find(({ key }) => key === "postmark")!;

  return {
    originByProvider,
    snsUrl: originByProvider.ses!,
    secrets: { "system-sender": JSON.stringify(postmark.credentials(accounts.systemAccount)) },
    systemSenderSetting: "postmark:no-reply@pennymail.test",
    handleLocalRequest(request) {
      schedule.release();
      return handleLocalRequest(request, {
        inbox,
        accounts,
        providers,
        smtp: { credentials: smtpCredentials, url: smtpServer.url },
        createGoogleKey: async (account) => createServiceAccountKey(account, await getPrivateKey()),
        publicUrl,
        urls: originByProvider,
      });
    },
    observeApiCall(call) {
      const target = webhookTargets.observe(call, providers);
      const account = target && accounts.findById(target.account);
      // SNS confirms a new subscription at once. A failure is retried with the first event.
      if (target && account)
        void Promise.resolve(topics.ensureConfirmed(target, account)).catch(() => false);
    },
    flushWebhooks: webhookSender.flush,
    stats: () => ({ accepted, ...webhookSender.stats() }),
    async stop() {
      const others = [smtpServer.close(), bounceMailboxes.close(), google.close()];
      await Promise.all([...others, ...servers.map(([, server]) => server.close())]);
      await webhookSender.stop();
      schedule.stop();
      inbox.save();
    },
  };
}
