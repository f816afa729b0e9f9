// Asks a provider whether it knows credentials, by a request that changes nothing.
import * as z from "zod";
import type { CredentialCheck, ProviderAdapter } from "./provider-adapter.ts";
import { type ProviderResponse, readFromProvider, sanitizeError } from "./provider-http.ts";

export async function checkCredentials<C extends z.ZodObject>(
  provider: ProviderAdapter<C>,
  credentials: z.output<C>,
): Promise<CredentialCheck> {
  if (!provider.credentialRequest)
    return provider.checkLogin?.(credentials) ?? { status: "unknown" };
  const { isRefusal = isUnauthorized, ...request } = await provider.credentialRequest(credentials);
  const response = await readFromProvider(provider as unknown as ProviderAdapter, request);
  if (!response) return { status: "unknown" };
  if (isRefusal(response)) {
    const error = errorTextOf(response) ?? `${provider.name} responded with ${response.status}`;
    return { status: "refused", error: sanitizeError(error, secretsOf(credentials)) };
  }
  const isBusy = response.status === 429 || response.status >= 500;
  return { status: isBusy ? "unknown" : "accepted" };
}

const isUnauthorized = ({ status }: ProviderResponse): boolean => status === 401;

/** All texts of the credentials, to be removed from error texts. */
export const secretsOf = (credentials: Record<string, unknown>): string[] =>
  Object.values(credentials).filter((value): value is string => typeof value === "string");

const text = z.string().min(1).optional().catch(undefined);
const Problem = z.object({
  message: text,
  Message: text,
  ErrorMessage: text,
  error: text,
  data: z.object({ error: text }).optional().catch(undefined),
  errors: z
    .array(z.object({ message: text }))
    .optional()
    .catch(undefined),
});

/** The message of an error, wherever a provider puts it. */
export function errorTextOf({ json, text: body }: ProviderResponse): string | undefined {
  const problem = Problem.safeParse(json).data;
  if (!problem) return /^\s*</.test(body) ? undefined : body || undefined;
  const { message, Message, ErrorMessage, error, data, errors } = problem;
  return message ?? Message ?? ErrorMessage ?? error ?? data?.error ?? errors?.[0]?.message;
}
