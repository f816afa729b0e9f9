import type { Caller } from "../../../caller.ts";
import { Problem } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { encryptMessages } from "../secure-messages/encrypt-messages.ts";
import { acceptSingle } from "./accept-single.ts";
import { type IntakeOptions, loadIntake } from "./intake.ts";
import { addressesOf, type SingleMessage } from "./single-message.ts";

interface MessageResult {
  index: number;
  id: number | null;
  status: "queued" | "scheduled" | "failed" | "rejected";
  error: string | null;
  warnings: string[];
  /** Why it was rejected. */
  problem?: Problem;
}

/**
 * Accepts up to 100 mails with contents of their own. `messages[i]` is a problem if the i-th one is
 * not valid. A mail that cannot be accepted is rejected alone. The ids follow the order of the
 * request, so a repeated request finds the mails of the first attempt.
 */
export async function acceptMessages(
  caller: Caller,
  messages: (SingleMessage | Problem)[],
  options: Omit<IntakeOptions, "emails">,
): Promise<MessageResult[]> {
  const firstId = await ids.nextSendIds(messages.length);
  return inParallel(concurrency, messages, async (message, index) => {
    if (message instanceof Problem) return rejected(index, message);
    try {
      const emails = addressesOf(message);
      const context = await loadIntake(caller, message, { emails, ...options });
      const id = firstId + index;
      const accepted = await acceptSingle(caller, message, {
        context,
        encrypt: encryptMessages,
        id,
      });
      return { index, error: null, ...accepted };
    } catch (error) {
      if (error instanceof Problem && !isTemporary(error)) return rejected(index, error);
      throw error;
    }
  });
}

const concurrency = 8;

/**
 * Whether the problem fails the request. A repetition then gets the same ids and continues. After
 * any other failure it would get new ids and send the accepted mails twice.
 */
const isTemporary = ({ kind }: Problem): boolean =>
  kind === "limited" || kind === "upstream" || kind === "unavailable";

const rejected = (index: number, problem: Problem): MessageResult => ({
  index,
  id: null,
  status: "rejected",
  error: problem.message,
  warnings: [],
  problem,
});
