// The suppression list of the provider of a sending config.
import { type ConnectAccount, createProviderApi } from "../../providers/connect/connector.ts";
import { getConnector } from "../../providers/connect/lookup.ts";
import { traitsOf } from "../../providers/traits.ts";
import { openCredentials } from "./secret-context.ts";
import type { SendingConfig } from "./sending-config-schema.ts";

export type ProviderList = NonNullable<Awaited<ReturnType<typeof openProviderList>>>;

/** Undefined if the provider has no API for it. No request starts after `until`. */
export async function openProviderList(orgId: number, config: SendingConfig, until: Date) {
  const connector = getConnector(config.provider);
  if (!connector?.suppressionList) return undefined;
  const { suppressionList } = connector;
  const provider = { key: config.provider, name: traitsOf(config.provider).name };
  const credentials = (await openCredentials(orgId, config)) as Record<string, string>;
  const headers = connector.headers(credentials);
  const account: ConnectAccount = {
    credentials,
    api: createProviderApi(provider, { credentials, headers }, until),
    // Lists need no webhook.
    webhook: { url: "", secret: undefined, name: "", snsTopic: undefined },
  };
  return {
    until,
    readPage: (cursor: string | undefined) => suppressionList.readPage(account, cursor),
    remove: (email: string) => suppressionList.remove(account, email),
  };
}
