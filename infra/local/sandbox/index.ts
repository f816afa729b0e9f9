// A mail provider for one machine: it speaks the APIs of all ten, keeps what it gets in an inbox, and posts their webhooks.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { accounts as accountsOf } from "./accounts.ts";
import { courier } from "./courier.ts";
import { openDesk, type Staff } from "./desk.ts";
import { type Observed, openHooks } from "./hooks.ts";
import { openInbox } from "./inbox.ts";
import { type LocalAnswer, type LocalRequest, local } from "./local.ts";
import { providers as theTen } from "./providers/index.ts";
import { openKeys } from "./root.ts";
import { topics as topicsOf } from "./topics.ts";

export interface Settings {
  /** `:memory:` keeps nothing. */
  dataDir: string;
  /** Where the service answers, for the page that tells how to use the sandbox. */
  publicUrl: () => string;
}

export interface Sandbox {
  /** Origin by provider key, for PROVIDER_URL_<KEY>. */
  urls: Record<string, string>;
  /** For SNS_URL. */
  snsUrl: string;
  /** For the system sender: name of a secret to its value, credentials as JSON. */
  secrets: Record<string, string>;
  /** For SYSTEM_SENDER; its secret is the only one in `secrets`. */
  systemSender: string;
  /** Answers /_local/inbox and /_local/sandbox; undefined for any other path. */
  local(request: LocalRequest): Promise<LocalAnswer | undefined>;
  /** To be told of each answered POST, PUT and DELETE of /api/v1/sending-configs*. */
  observe(call: Observed): void;
  /** Lets all webhooks that are still to come happen now. */
  settle(): Promise<void>;
  stats(): { accepted: number; webhooksPosted: number; webhooksFailed: number };
  stop(): Promise<void>;
}

export async function openSandbox({ dataDir, publicUrl }: Settings): Promise<Sandbox> {
  const folder = dataDir === ":memory:" ? undefined : join(dataDir, "sandbox");
  if (folder) mkdirSync(folder, { recursive: true });
  const keys = openKeys(folder);
  const accounts = accountsOf(keys.root);
  const inbox = openInbox(folder && join(folder, "inbox.json"));
  const hooks = openHooks(folder && join(folder, "hooks.jsonl"), accounts);
  const topics = topicsOf(keys, hooks);
  const providers = theTen(topics);
  const post = courier(hooks, topics.confirmed);
  let accepted = 0;

  const staff: Staff = {
    accounts,
    accept(drafts, provider, account) {
      accepted += drafts.length;
      const mails = drafts.map((draft) => inbox.add(draft, provider.key, account.id));
      post.expect(mails, provider, account);
    },
  };
  const desks = await Promise.all(
    providers.map(async (provider) => {
      const desk = await openDesk(provider, provider.key === "ses" ? { ...staff, open: topics.serve } : staff);
      return [provider.key, desk] as const;
    }),
  );
  const urls = Object.fromEntries(desks.map(([key, { origin }]) => [key, origin]));
  const postmark = providers.find(({ key }) => key === "postmark")!;

  return {
    urls,
    snsUrl: urls.ses!,
    secrets: { "system-sender": JSON.stringify(postmark.credentials(accounts.system)) },
    systemSender: "postmark:no-reply@pennymail.test",
    local: (request) => local(request, { inbox, accounts, providers, publicUrl }),
    observe(call) {
      const hook = hooks.observe(call, providers);
      const account = hook && accounts.named(hook.account);
      // SNS asks for confirmation as soon as someone subscribes; a failure shows when events do not come.
      if (hook && account) void Promise.resolve(topics.confirmed(hook, account)).catch(() => false);
    },
    settle: post.settle,
    stats: () => ({ accepted, ...post.stats() }),
    async stop() {
      await Promise.all(desks.map(([, desk]) => desk.close()));
      await post.stop();
      inbox.save();
    },
  };
}
