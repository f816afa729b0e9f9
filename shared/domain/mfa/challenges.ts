// A login whose password was right and which waits for its second factor. Its token is in the hands of whoever logs in; here is its hash.
import { after, epochSeconds } from "../../clock.ts";
import { above, all, below, exists } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { get, put, update, updateReturning, write } from "../../doors/table.ts";
import { conflict, Problem } from "../../errors.ts";
import { randomText } from "../../ids.ts";
import { keys, sha256 } from "../../keys.ts";
import { queues } from "../../queues.ts";
import * as attempts from "../login-attempts.ts";
import { hashOf } from "./keyed-hashes.ts";
import type { Member } from "./second-factors.ts";
import * as secondFactors from "./second-factors.ts";

const lifetimeSeconds = 600;
export const mostTries = 5;
const codeSeconds = 600;

export interface Challenge extends Member {
  email: string;
  /** A later change of password makes the token worthless. */
  passwordChangedAt: string;
  tries: number;
  /** How many codes were mailed; only the last one counts. */
  codes: number;
  codeExpires?: number;
  expires: number;
}
export interface Challenged {
  mfaRequired: true;
  mfaToken: string;
  methods: secondFactors.Method[];
}

/** undefined when the password is enough. */
export async function begin(member: Member & { passwordChangedAt: string }, email: string): Promise<Challenged | undefined> {
  const methods = secondFactors.methodsOf(await secondFactors.find(member));
  if (!methods.length) return undefined;
  const { orgId, userId, passwordChangedAt } = member;
  const mfaToken = randomText(43);
  const expires = epochSeconds(after(lifetimeSeconds));
  const challenge: Challenge = { orgId, userId, email, passwordChangedAt, tries: 0, codes: 0, expires };
  await write(put(keys.mfaToken(sha256(mfaToken)), challenge));
  return { mfaRequired: true, mfaToken, methods };
}

/** The challenge while it lives; 401 `invalid_token` is for the caller to throw. */
export async function find(hash: string): Promise<Challenge | undefined> {
  const challenge = await get<Challenge>(keys.mfaToken(hash));
  return challenge && challenge.expires > epochSeconds() && challenge.tries < mostTries ? challenge : undefined;
}

/** Takes one of its tries; undefined when none is left. */
export const takeTry = (hash: string): Promise<Challenge | undefined> =>
  updateReturning<Challenge>(
    update(keys.mfaToken(hash), { add: { tries: 1 } }, { if: all(exists, above("expires", epochSeconds()), below("tries", mostTries)) }),
  );

/** Has a code mailed; those mailed before are worth nothing from now on. */
export async function requestCode(mfaToken: string): Promise<void> {
  const hash = sha256(mfaToken);
  const challenge = await find(hash);
  if (!challenge) throw invalidToken();
  const methods = secondFactors.methodsOf(await secondFactors.find(challenge));
  if (!methods.includes("email_otp"))
    throw conflict("Codes by mail are not enabled for this user: use the code of the app", { code: "method_unavailable" });
  await attempts.permitMail("login code", challenge.email);
  const asked = await updateReturning<Challenge>(
    update(
      keys.mfaToken(hash),
      { add: { codes: 1 }, set: { codeExpires: epochSeconds(after(codeSeconds)) } },
      { if: all(exists, above("expires", epochSeconds()), below("tries", mostTries)) },
    ),
  );
  if (!asked) throw invalidToken();
  await enqueue(queues.systemMail, [{ mail: "login_code", challenge: hash, code: asked.codes }]);
}

/** A code to mail, as long as no newer one was asked for: a message that comes twice mails the same code. */
export async function mailedCode(hash: string, number: number): Promise<(Challenge & { code: string }) | undefined> {
  const challenge = await find(hash);
  return challenge?.codes === number ? { ...challenge, code: await codeOf(hash, number) } : undefined;
}

/** The code that counts now; undefined when none was mailed or it is too old. It is derived and stored nowhere, not even as a hash. */
export async function currentCode(hash: string, { codes, codeExpires = 0 }: Challenge): Promise<string | undefined> {
  return codes && codeExpires > epochSeconds() ? codeOf(hash, codes) : undefined;
}

// Of 48 bits the remainder is as good as even.
const codeOf = async (hash: string, number: number): Promise<string> =>
  String((await hashOf("email code", hash, number)).readUIntBE(0, 6) % 1_000_000).padStart(6, "0");

/** `error` is what every bad credential gets; `code` tells a page whether to ask again or to go back to the password. */
export const invalidToken = () => new Problem("unauthenticated", "Unauthorized", { code: "invalid_token" });
export const wrongCode = () => new Problem("unauthenticated", "Unauthorized", { code: "wrong_code" });
