// Verifies a sending config by sending a test mail.

import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { invalid, missing, upstream } from "../../errors.ts";
import { escapeHtml } from "../../kernel/html.ts";
import { checkCredentials } from "../../providers/check-credentials.ts";
import type { HandOverOutcome } from "../../providers/provider-adapter.ts";
import { getProvider } from "../../providers/registry.ts";
import { getMember } from "../identity/members.ts";
import * as accountLimits from "./account-limits.ts";
import { decryptCredentials, parseCredentials } from "./config-secrets.ts";
import { type DirectMail, renderPlainPage, sendDirectMail } from "./direct-mail.ts";
import type { SendingConfig } from "./sending-config-schema.ts";
import * as sendingConfigs from "./sending-configs.ts";

type VerifyCaller = Pick<Caller, "orgId" | "siteIds" | "userId">;

/**
 * Sends a test mail to `to`, or to the caller's own address. If the provider accepts it, the config
 * is verified and the limits of the account are read. 400 `provider_refused` with the provider's
 * message if it refuses the mail; 502 if it does not respond or has a problem, and then `verified`
 * does not change.
 */
export async function verifyConfig(
  caller: VerifyCaller,
  id: number,
  to?: string,
): Promise<{ config: SendingConfig; sentTo: string }> {
  const config = await sendingConfigs.find(caller, id);
  const provider = getProvider(config.provider)!;
  const sentTo = to ?? (await findOwnAddress(caller));
  const credentials = await decryptCredentials(caller.orgId, config);
  const outcome = await sendDirectMail(
    provider,
    credentials,
    testMail(config, provider.name, sentTo),
  );
  await outcomeHandlers[outcome.status](caller, config, outcome as never);
  await accountLimits.refresh(caller.orgId, await sendingConfigs.find(caller, id));
  return { config: await sendingConfigs.find(caller, id), sentTo };
}

export const CheckedCredentials = z.object({
  status: z
    .enum(["accepted", "refused", "unknown"])
    .describe(
      "`accepted`: the provider knows the credentials; only a test email proves that they may " +
        "send. `refused`: it does not know them. `unknown`: it did not answer.",
    ),
  error: z.string().nullable().describe("Message of the provider, or `null`."),
});

/** Asks the provider whether it knows the credentials. Nothing is stored. */
export async function checkNewCredentials({
  provider: key,
  credentials,
}: {
  provider: string;
  credentials: Record<string, unknown>;
}): Promise<z.output<typeof CheckedCredentials>> {
  const provider = getProvider(key)!;
  const outcome = await checkCredentials(provider, parseCredentials(key, credentials) as never);
  return { status: outcome.status, error: outcome.status === "refused" ? outcome.error : null };
}

async function findOwnAddress({ orgId, userId }: VerifyCaller): Promise<string> {
  const member = await getMember(orgId, userId);
  if (!member) throw missing("The creator of this API key has left: give an address in to");
  return member.email;
}

type OutcomeHandler<S extends HandOverOutcome["status"]> = (
  caller: VerifyCaller,
  config: SendingConfig,
  outcome: Extract<HandOverOutcome, { status: S }>,
) => Promise<void>;

const outcomeHandlers: { [S in HandOverOutcome["status"]]: OutcomeHandler<S> } = {
  accepted: (caller, config) => sendingConfigs.setVerified(caller, config, true),
  // A refusal because of the recipient says nothing about the account.
  refused: async (caller, config, { error, config: accountAtFault }) => {
    if (accountAtFault && config.verified) await sendingConfigs.setVerified(caller, config, false);
    throw invalid(error, { code: "provider_refused" });
  },
  held: async (_, { provider }, { error, heard }) => {
    if (heard) throw upstream(`It is unknown whether the mail was sent: ${error}`.slice(0, 300));
    throw upstream(
      `${getProvider(provider)!.name} did not accept the mail; try again later: ${error}`.slice(
        0,
        300,
      ),
    );
  },
  uncertain: async (_, _config, { error }) => {
    throw upstream(`It is unknown whether the mail was sent: ${error}`.slice(0, 300));
  },
};

function testMail(config: SendingConfig, providerName: string, to: string): DirectMail {
  const from = sendingConfigs.senderOf(config);
  const lines = [
    `This is the test mail of sending config ${config.id}.`,
    `That you read it means that ${providerName} sends mail from ${from.email} for you.`,
  ];
  return {
    from,
    to: { email: to },
    subject: `${from.email} can send mail`,
    text: `${lines.join("\n\n")}\n`,
    html: renderPlainPage(...lines.map(escapeHtml)),
  };
}
