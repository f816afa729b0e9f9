// The service as seen from the commands that call it: a caller that has an address, and soon a key.
import { setTimeout as pause } from "node:timers/promises";
import { parsed } from "../../shared/json.ts";
import { Trouble } from "./trouble.ts";

export interface Caller {
  url: string;
  /** Credential of each request. */
  headers: Record<string, string>;
}

interface Answer {
  status: number;
  cookie: string;
  body: { data?: unknown; error?: string };
}

const noJson = { error: "the answer is no JSON" };

/** The data of a good answer; anything else is Trouble in the service's own words. Waits where a rate limit asks for it. */
export async function call<T>(caller: Caller, method: string, path: string, body?: unknown): Promise<T> {
  const { status, body: answer } = await ask(caller, method, `/api/v1${path}`, body);
  if (status >= 300) throw new Trouble(`${method} ${path} was answered ${status}: ${answer.error}`);
  return answer.data as T;
}

export async function ask(caller: Caller, method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(caller.url + path, {
    method,
    headers: { accept: "application/json", "content-type": "application/json", ...caller.headers },
    body: body === undefined ? null : JSON.stringify(body),
    redirect: "manual",
    signal: AbortSignal.timeout(60_000),
  }).catch((error: unknown) => {
    throw unreachable(caller.url, error);
  });
  if (response.status === 429) {
    await response.text();
    await pause(Number(response.headers.get("retry-after") ?? 1) * 1000);
    return ask(caller, method, path, body);
  }
  const text = await response.text();
  const [cookie = ""] = response.headers.getSetCookie();
  return { status: response.status, cookie: cookie.split(";")[0]!, body: (parsed(text) as Answer["body"] | undefined) ?? noJson };
}

function unreachable(url: string, error: unknown): Trouble {
  const { cause, name } = error as { cause?: { code?: string }; name: string };
  if (name === "TimeoutError") return new Trouble(`${url} did not answer within a minute`);
  return new Trouble(`Nothing answers at ${url} (${cause?.code ?? name}): run npm start first, or name the service with --url`);
}

interface Account {
  account: string;
  providers: Record<string, { credentials: Record<string, string>; webhookSecret: string }>;
}

/** A fresh account at the provider sandbox, without which the demo has nothing to send through. */
export async function sandboxAccount(caller: Caller): Promise<Account> {
  const { status, body } = await ask(caller, "GET", "/_local/sandbox");
  const account = body.data as Partial<Account> | undefined;
  if (status === 200 && account?.providers) return account as Account;
  throw new Trouble(
    `${caller.url} has no provider sandbox: it is deployed, was started with SANDBOX=off, or is something else. The demo sends through the sandbox alone; to send through your own provider, see "A first send" in README`,
  );
}
