// A small OpenID Connect provider on this machine. It logs everybody in as `user` without asking,
// and checks the client, the redirect URI, PKCE and that each code is used once.
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
  timingSafeEqual,
} from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface IdToken {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
  key: KeyObject;
}

export interface OidcProvider {
  issuer: string;
  /** Claims of the user in the browser. */
  user: { sub: string; [claim: string]: unknown };
  /** Changes an ID token before it is signed. */
  forge: (token: IdToken) => void;
  /** The response of the endpoint `userinfo`. */
  userInfo: Record<string, unknown>;
  /** Replaces fields of the metadata. */
  metadata: Record<string, unknown>;
  /** Refuses every login with this OAuth error. */
  refuseWith: string | undefined;
  /** Paths of all requests so far. */
  requests: string[];
  /** Adds the client of an organization. */
  register(client: OidcClient): void;
  close(): Promise<void>;
}

interface OidcClient {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
}

interface IssuedCode {
  clientId: string;
  redirectUri: string;
  challenge: string;
  nonce: string;
  user: OidcProvider["user"];
}

const keyId = "key-1";
const base64url = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

/** Signs with RS256. The algorithm `none` has an empty signature. */
function signToken({ header, claims, key }: IdToken): string {
  const input = `${base64url(header)}.${base64url(claims)}`;
  const signature = header.alg === "none" ? "" : sign("sha256", Buffer.from(input), key);
  return `${input}.${signature.toString("base64url")}`;
}

export async function startOidcProvider(): Promise<OidcProvider> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const clients = new Map<string, OidcClient>();
  const codes = new Map<string, IssuedCode>();
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: (error as Error).message }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: OidcProvider = {
    issuer,
    user: { sub: "user-1" },
    forge: () => {},
    userInfo: {},
    metadata: {},
    refuseWith: undefined,
    requests: [],
    register: (client) => void clients.set(client.clientId, client),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, issuer);
    provider.requests.push(url.pathname);
    const routes: Record<string, () => unknown> = {
      "/.well-known/openid-configuration": describeProvider,
      "/jwks": () => ({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: keyId }] }),
      "/userinfo": () => provider.userInfo,
      "/token": async () => exchange(request, new URLSearchParams(await text(request))),
    };
    if (url.pathname === "/authorize") {
      response.writeHead(302, { location: authorize(url.searchParams) }).end();
      return;
    }
    const body = await routes[url.pathname]?.();
    response.writeHead(body ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? {}));
  }

  const describeProvider = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/userinfo`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    ...provider.metadata,
  });

  function authorize(query: URLSearchParams): string {
    const field = (name: string) => query.get(name) ?? "";
    const client = clients.get(field("client_id"));
    if (client?.redirectUri !== field("redirect_uri")) throw new Error("invalid_redirect_uri");
    if (field("code_challenge_method") !== "S256") throw new Error("pkce_required");
    const redirect = new URL(client.redirectUri);
    redirect.searchParams.set("state", field("state"));
    redirect.searchParams.set("iss", issuer);
    if (provider.refuseWith) redirect.searchParams.set("error", provider.refuseWith);
    else {
      const code = randomUUID();
      codes.set(code, {
        clientId: client.clientId,
        redirectUri: client.redirectUri,
        challenge: field("code_challenge"),
        nonce: field("nonce"),
        user: { ...provider.user },
      });
      redirect.searchParams.set("code", code);
    }
    return redirect.href;
  }

  function exchange(request: IncomingMessage, body: URLSearchParams): object {
    const [, credentials = ""] = /^Basic (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    const [clientId = "", secret = ""] = Buffer.from(credentials, "base64")
      .toString()
      .split(":")
      .map(decodeURIComponent);
    const client = clients.get(clientId);
    const hash = (value: string) => createHash("sha256").update(value).digest();
    if (!client || !timingSafeEqual(hash(secret), hash(client.clientSecret)))
      throw new Error("invalid_client");
    const issued = codes.get(body.get("code") ?? "");
    codes.delete(body.get("code") ?? "");
    const isGranted =
      issued?.clientId === clientId &&
      issued.redirectUri === body.get("redirect_uri") &&
      issued.challenge === hash(body.get("code_verifier") ?? "").toString("base64url");
    if (!isGranted) throw new Error("invalid_grant");
    const at = Math.floor(Date.now() / 1000);
    const times = { iat: at, exp: at + 300 };
    const claims = { iss: issuer, aud: clientId, ...times, nonce: issued.nonce, ...issued.user };
    const token = { header: { alg: "RS256", kid: keyId }, claims, key: privateKey };
    provider.forge(token);
    return { access_token: "access", token_type: "Bearer", id_token: signToken(token) };
  }

  return provider;
}
