// OpenID Connect with the provider of an organization: its metadata, the URL of a login, and the
// exchange of a code for verified claims. Every request has a time limit and a size limit and
// connects only to public addresses, because the organization enters the URL.
import * as oidc from "openid-client";
import { now } from "../../clock.ts";
import { toSingleLine } from "../../kernel/email-fields.ts";
import { parseJson } from "../../kernel/json.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { findUrlFault } from "../../kernel/public-urls.ts";
import { NoResponse } from "../http/no-response.ts";
import { requestPublicUrl } from "../http/public-client.ts";

/** The registration of this service at a provider. */
export interface ProviderClient {
  /** Exactly as the provider's metadata and tokens name it. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  /** Also allows this machine, with http. For the local runner. */
  allowLoopback: boolean;
}

/** Binds the response of the provider to one login. Random texts. */
export interface LoginSecrets {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/**
 * The user of an ID token whose signature, issuer, audience, expiry and nonce are verified. A token
 * without the address is completed by the endpoint `userinfo`.
 */
export interface ProviderClaims {
  subject: string;
  email: unknown;
  emailVerified: unknown;
  name: unknown;
  /** The Google Workspace domain of the user. Only Google sends it. */
  hostedDomain: unknown;
}

/** The provider failed or refused. `message` is one sentence for the owner of the organization. */
export class ProviderError extends Error {}

const timeoutSeconds = 5;
const maxBytes = 300_000;

/** Throws `ProviderError` for every failure. */
export async function createLoginUrl(
  client: ProviderClient,
  { state, nonce, codeVerifier }: LoginSecrets,
  loginHint: string | undefined,
): Promise<string> {
  const configuration = await configure(client);
  const url = oidc.buildAuthorizationUrl(configuration, {
    redirect_uri: client.redirectUri,
    scope: "openid email profile",
    state,
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
    ...(loginHint !== undefined && { login_hint: loginHint }),
  });
  return url.href;
}

/**
 * Exchanges the code in the query of the provider's redirect. Throws `ProviderError` for every
 * failure.
 */
export async function exchangeCode(
  client: ProviderClient,
  { state, nonce, codeVerifier }: LoginSecrets,
  query: string,
): Promise<ProviderClaims> {
  const configuration = await configure(client);
  const tokens = await oidc
    .authorizationCodeGrant(configuration, new URL(`${client.redirectUri}?${query}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    })
    .catch(throwProviderError);
  const claims = tokens.claims();
  // The library accepts every tenant for the shared endpoints of Microsoft.
  if (!claims || claims.iss !== client.issuer)
    throw new ProviderError("The ID token names another issuer");
  // Both claims come from one place, so that no address counts as verified for another.
  const isComplete = claims.email !== undefined && claims.email_verified !== undefined;
  const info = isComplete
    ? undefined
    : await readUserInfo(configuration, tokens.access_token, claims.sub);
  const { email, email_verified: emailVerified } = info?.email === undefined ? claims : info;
  return {
    subject: claims.sub,
    email,
    emailVerified,
    name: claims.name ?? info?.name,
    hostedDomain: claims.hd,
  };
}

/** Undefined if the provider has no such endpoint or it fails. The subject must be the same. */
async function readUserInfo(
  configuration: oidc.Configuration,
  accessToken: string,
  subject: string,
): Promise<oidc.UserInfoResponse | undefined> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return undefined;
  return oidc.fetchUserInfo(configuration, accessToken, subject).catch(() => undefined);
}

/** Reads the metadata and the keys of the provider. Throws `ProviderError`. */
export async function checkProvider(client: ProviderClient): Promise<void> {
  const { jwks_uri: url } = await findMetadata(client, { skipCache: true });
  const { allowLoopback } = client;
  const { status, text } = await requestPublicUrl({
    url: url!,
    timeoutSeconds,
    maxBytes,
    allowLoopback,
  }).catch(throwProviderError);
  const { keys } = (parseJson(text) ?? {}) as { keys?: unknown };
  if (status !== 200 || !Array.isArray(keys) || !keys.length)
    throw new ProviderError("The provider does not return the keys that sign its ID tokens");
}

async function configure(client: ProviderClient): Promise<oidc.Configuration> {
  const metadata = await findMetadata(client);
  const { clientId, clientSecret, allowLoopback } = client;
  const configuration = new oidc.Configuration(
    metadata,
    clientId,
    undefined,
    authenticationOf(metadata)(clientSecret),
  );
  configuration[oidc.customFetch] = createFetch(client);
  // Also verifies the signature of the ID token, not only the connection that it came over.
  oidc.enableNonRepudiationChecks(configuration);
  if (allowLoopback) oidc.allowInsecureRequests(configuration);
  return configuration;
}

/** Basic is the default of OpenID Connect Discovery 1.0, section 3. */
function authenticationOf({ token_endpoint_auth_methods_supported: methods }: oidc.ServerMetadata) {
  return methods === undefined || methods.includes("client_secret_basic")
    ? oidc.ClientSecretBasic
    : oidc.ClientSecretPost;
}

const metadataMs = 10 * 60_000;
const metadataCache = createLruCache<{ metadata: oidc.ServerMetadata; expires: number }>(4_000_000);

async function findMetadata(
  client: ProviderClient,
  { skipCache = false } = {},
): Promise<oidc.ServerMetadata> {
  const { issuer, allowLoopback } = client;
  const cached = skipCache ? undefined : metadataCache.get(issuer);
  if (cached && cached.expires > now().getTime()) return cached.metadata;
  const configuration = await oidc
    .discovery(new URL(issuer), client.clientId, undefined, undefined, {
      [oidc.customFetch]: createFetch(client),
      execute: allowLoopback ? [oidc.allowInsecureRequests] : [],
    })
    .catch(throwProviderError);
  const metadata = configuration.serverMetadata();
  checkMetadata(metadata, client);
  const expires = now().getTime() + metadataMs;
  metadataCache.set(issuer, { metadata, expires }, JSON.stringify(metadata).length);
  return metadata;
}

/**
 * The shared endpoints of Microsoft name no tenant, so every tenant in the world could log in. They
 * have another issuer in their metadata.
 */
function checkMetadata(
  metadata: oidc.ServerMetadata,
  { issuer, allowLoopback }: ProviderClient,
): void {
  if (metadata.issuer !== issuer)
    throw new ProviderError(
      `The provider calls itself ${metadata.issuer}: enter exactly that as the issuer, with the ` +
        "id of your tenant if it has a placeholder",
    );
  for (const field of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const)
    if (typeof metadata[field] !== "string" || findUrlFault(metadata[field], allowLoopback))
      throw new ProviderError(`The metadata of the provider has no public https URL as ${field}`);
}

const createFetch =
  ({ allowLoopback }: Pick<ProviderClient, "allowLoopback">): oidc.CustomFetch =>
  async (url, { method, headers, body }) => {
    const response = await requestPublicUrl({
      method: method as "GET" | "POST",
      url,
      headers,
      body: body == null ? undefined : String(body),
      timeoutSeconds,
      maxBytes,
      allowLoopback,
    });
    const { status, text } = response;
    const contentType = response.headers["content-type"] ?? "";
    const hasBody = status !== 204 && status !== 304;
    return new Response(hasBody ? text : null, {
      status,
      headers: { "content-type": contentType },
    });
  };

function throwProviderError(error: unknown): never {
  throw new ProviderError(reasonOf(error), { cause: error });
}

/** Never has the code, a token or the secret. */
function reasonOf(error: unknown): string {
  if (error instanceof NoResponse) return error.reason;
  if (error instanceof oidc.AuthorizationResponseError)
    return `The provider refused the login: ${describe(error)}`;
  if (error instanceof oidc.ResponseBodyError)
    return `The provider refused the code: ${describe(error)}`;
  if (error instanceof Error && error.cause instanceof NoResponse) return error.cause.reason;
  if (error instanceof oidc.ClientError)
    return `The response of the provider is not valid (${error.message}, ${error.code})`;
  return "The response of the provider is not valid";
}

const describe = ({
  error,
  error_description: description,
}: {
  error: string;
  error_description?: string;
}): string => toSingleLine([error, description].filter(Boolean).join(", ").slice(0, 300));
