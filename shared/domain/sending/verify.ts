// Whether a sending config works is found out by using it.
import type { Caller } from "../../caller.ts";
import { get } from "../../doors/table.ts";
import { invalid, missing, upstream } from "../../errors.ts";
import { keys } from "../../keys.ts";
import { provider as providerOf } from "../../providers/index.ts";
import type { Outcome } from "../../providers/provider.ts";
import type { SendingConfig } from "../sending-configs.ts";
import * as sendingConfigs from "../sending-configs.ts";
import { escaped, handOver, page, type SimpleMail } from "./simple-mailing.ts";

type Who = Pick<Caller, "orgId" | "siteId" | "userId">;

/**
 * Sends a test mail to `to`, or to the caller's own address. Accepted: the config is verified. Refused: 400 `provider_refused` in
 * the provider's own words. No answer, or trouble on its side: 502, and nothing is known that was not known before.
 */
export async function verify(who: Who, id: number, to?: string): Promise<{ config: SendingConfig; sentTo: string }> {
  const config = await sendingConfigs.find(who, id);
  const provider = providerOf(config.provider)!;
  const sentTo = to ?? (await ownAddress(who));
  const credentials = await sendingConfigs.credentials(who.orgId, config);
  const outcome = await handOver(provider, credentials, testMail(config, provider.name, sentTo));
  await conclusions[outcome.status](who, config, outcome as never);
  return { config: await sendingConfigs.find(who, id), sentTo };
}

async function ownAddress({ orgId, userId }: Who): Promise<string> {
  const user = await get<{ email: string }>(keys.member(orgId, userId));
  if (!user) throw missing("Your user is gone: name an address in `to`");
  return user.email;
}

type Conclude<S extends Outcome["status"]> = (who: Who, config: SendingConfig, outcome: Extract<Outcome, { status: S }>) => Promise<void>;

const conclusions: { [S in Outcome["status"]]: Conclude<S> } = {
  accepted: (who, config) => sendingConfigs.noteVerified(who, config, true),
  // A recipient whom the provider does not like says nothing about the account.
  refused: async (who, config, { error, config: accountAtFault }) => {
    if (accountAtFault && config.verified) await sendingConfigs.noteVerified(who, config, false);
    throw invalid(error, { code: "provider_refused" });
  },
  held: async (_, { provider }, { error }) => {
    throw upstream(`${providerOf(provider)!.name} did not take the mail, try again later: ${error}`.slice(0, 300));
  },
  uncertain: async (_, _config, { error }) => {
    throw upstream(`The mail may or may not have been sent: ${error}`.slice(0, 300));
  },
};

function testMail({ id, fromEmail, fromName }: SendingConfig, providerName: string, to: string): SimpleMail {
  const lines = [
    `This is the test mail of sending config ${id}.`,
    `That you read it means that ${providerName} sends mail from ${fromEmail} for you.`,
  ];
  return {
    from: { email: fromEmail, name: fromName ?? undefined },
    to: { email: to },
    subject: `${fromEmail} can send mail`,
    text: `${lines.join("\n\n")}\n`,
    html: page(...lines.map(escaped)),
  };
}
