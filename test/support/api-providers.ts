import { providers } from "../../shared/providers/registry.ts";

/** The ten providers with an API, which have webhooks: all but `smtp`. */
export const apiProviders = providers.filter(({ webhookProof }) => webhookProof !== undefined);
