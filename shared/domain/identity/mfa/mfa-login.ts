// Completes a login with a second factor.
import { all, equals, exists, present } from "../../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  get,
  remove,
  transact,
  type Write,
} from "../../../adapters/dynamodb/table.ts";
import { type AccountEvent, reportAccountEvent } from "../../../kernel/account-events.ts";
import { constantTimeEquals } from "../../../kernel/installation-secrets.ts";
import { queueNotice } from "../../../kernel/security-notices.ts";
import { keys, sha256 } from "../../../keys.ts";
import * as accounts from "../accounts.ts";
import * as attemptLimits from "../attempt-limits.ts";
import * as invitationAcceptance from "../invitation-acceptance.ts";
import type * as sessions from "../sessions.ts";
import * as loginChallenges from "./login-challenges.ts";
import { stripSeparators, useOwnCodeWrite } from "./mfa-proof.ts";
import type { SecondFactors } from "./second-factors.ts";
import * as secondFactors from "./second-factors.ts";

export const requestCode = loginChallenges.mailCode;

/**
 * Opens the session if the code is right. Throws 401 `wrong_code`, or `invalid_token` if the token
 * was used, is older than 10 minutes or has no tries left. Failures count as failed logins.
 */
export async function verifyLogin(
  { mfaToken, code }: { mfaToken: string; code: string },
  client: sessions.SessionClient,
): Promise<accounts.OpenedSession> {
  const hash = sha256(mfaToken);
  let refusal = loginChallenges.invalidToken();
  const opened = await attemptLimits.withAttemptLimits(
    [attemptLimits.clientLimit(client.address)],
    async () => {
      const challenge = await loginChallenges.getChallenge(hash);
      if (!challenge) return undefined;
      accounts.reportLogin("verifyMfaCode", challenge, { outcome: "failed" });
      return attemptLimits.withAttemptLimits(
        [attemptLimits.accountLimit(challenge.email), attemptLimits.codeLimit(challenge.email)],
        async () => {
          const counted = await loginChallenges.countTry(hash);
          if (counted && counted.tries < loginChallenges.maxTries)
            refusal = loginChallenges.wrongCode();
          return counted && completeLogin({ hash, challenge: counted, client }, code);
        },
      );
    },
  );
  if (!opened) throw refusal;
  return opened;
}

// Uses the code, deletes the challenge and opens the session in one transaction, so a code opens
// exactly one session.
async function completeLogin(
  { hash, challenge, client }: PendingLogin,
  code: string,
): Promise<accounts.OpenedSession | undefined> {
  const [factors, login] = await Promise.all([
    secondFactors.getSecondFactors(challenge),
    get<accounts.LoginRecord>(keys.user(challenge.email)),
  ]);
  const useCode = factors && (await useCodeWrites({ hash, challenge, factors }, code));
  if (!useCode || login?.passwordChangedAt !== challenge.passwordChangedAt) return undefined;
  const { opened, writes, event } = await prepareSession(challenge, login, client);
  const committed = await transact(
    remove(keys.mfaToken(hash), { if: all(exists, equals("codes", challenge.codes)) }),
    ...useCode,
    ...writes,
  );
  if (!committed) return undefined;
  reportAccountEvent(event);
  if (event.invitationId !== undefined)
    await queueNotice("member_joined", { orgId: event.orgId, recordId: opened.user.id });
  return opened;
}

interface PreparedSession {
  opened: accounts.OpenedSession;
  writes: Write[];
  /** To report after the writes. */
  event: AccountEvent;
}

async function prepareSession(
  { invitation }: loginChallenges.LoginChallenge,
  login: accounts.LoginRecord,
  client: sessions.SessionClient,
): Promise<PreparedSession> {
  if (invitation !== undefined) {
    const prepared = await invitationAcceptance.prepareAcceptance(invitation, login, client);
    return { ...prepared, event: { ...prepared.acceptance, action: "acceptInvitation" } };
  }
  const prepared = await accounts.prepareLogin(login, client);
  const { user, organization } = prepared.opened;
  const event = { orgId: organization.id, userId: user.id, outcome: "done" as const };
  return { ...prepared, event: { ...event, action: "verifyMfaCode" } };
}

interface PendingLogin {
  hash: string;
  challenge: loginChallenges.LoginChallenge;
  client: sessions.SessionClient;
}

/** A login that waits for its second factor. */
interface OpenLogin {
  hash: string;
  challenge: loginChallenges.LoginChallenge;
  factors: SecondFactors;
}

async function useCodeWrites(
  { hash, challenge, factors }: OpenLogin,
  code: string,
): Promise<Write[] | undefined> {
  const own = await useOwnCodeWrite(challenge, factors, code);
  if (own) return [own];
  const mailed =
    factors.emailOtpSince === undefined
      ? undefined
      : await loginChallenges.getCurrentCode(hash, challenge);
  // The challenge is deleted in the same transaction, so the mailed code needs no write of its own.
  return mailed !== undefined && constantTimeEquals(stripSeparators(code), mailed)
    ? [
        checkCondition(
          keys.secondFactors(challenge.orgId, challenge.userId),
          present("emailOtpSince"),
        ),
      ]
    : undefined;
}
