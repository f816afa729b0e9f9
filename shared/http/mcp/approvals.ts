// Approvals. A call that mails many people first returns a preview with a token. Only the same call
// with this token is made, for 15 minutes, and only while the preview stays the same.
import type { Caller } from "../../caller.ts";
import { epochSeconds } from "../../clock.ts";
import { isObject } from "../../kernel/json.ts";
import { createSealer, openToken } from "../../kernel/sealed-tokens.ts";
import { sha256 } from "../../keys.ts";
import { approvalRules, type MassMailing, type ReadApi } from "./approval-rules.ts";
import type { OperationArguments } from "./call-api.ts";
import type { McpOperation } from "./catalog.ts";
import { ToolFailure } from "./tool-failure.ts";

const lifetimeSeconds = 15 * 60;

export interface ApprovalRequest {
  caller: Pick<Caller, "orgId" | "keyId">;
  operation: McpOperation;
  args: OperationArguments;
  token: string | undefined;
}

interface Decision {
  /** The result of the tool if the call must not be made yet: a preview with a token. */
  preview?: object;
  /** An approved call is made with this key, so that one approval never mails twice. */
  idempotencyKey?: string;
}

/**
 * Decides whether the call may be made now. Throws `ToolFailure` for a token that is not valid for
 * this call.
 */
export async function requestApproval(request: ApprovalRequest, read: ReadApi): Promise<Decision> {
  const { operation, args, token, caller } = request;
  const mailing = await approvalRules[operation.name]?.(args, read);
  if (!mailing) return {};
  const fingerprint = fingerprintOf(request, mailing);
  if (token === undefined) return { preview: await createPreview(caller, mailing, fingerprint) };
  await checkToken(request, token, fingerprint);
  return { idempotencyKey: `approval-${sha256(token)}` };
}

async function createPreview(
  { orgId, keyId = 0 }: ApprovalRequest["caller"],
  { preview }: MassMailing,
  fingerprint: string,
): Promise<object> {
  const expires = epochSeconds() + lifetimeSeconds;
  const seal = await createSealer("approval");
  return {
    done: false,
    message:
      "Nothing was sent yet. Show this preview to the user. If the user agrees, repeat the " +
      "same call with `approvalToken`. The token expires after 15 minutes, and is void as " +
      "soon as the recipients or the content change.",
    preview,
    approvalToken: seal([orgId, keyId, expires, fingerprint]),
  };
}

async function checkToken(
  { caller }: ApprovalRequest,
  token: string,
  fingerprint: string,
): Promise<void> {
  const [orgId, keyId, expires = 0, approved] = (await openToken("approval", token)) ?? [];
  if (orgId !== caller.orgId || keyId !== caller.keyId)
    throw voidToken("The approval token is not valid for this API key");
  if (Number(expires) <= epochSeconds()) throw voidToken("The approval token has expired");
  if (approved !== fingerprint)
    throw voidToken("The approval token is void: the call, the recipients or the content changed");
}

const voidToken = (message: string) =>
  new ToolFailure("approval_void", message, {
    remedy: "Nothing was sent. Repeat the call without `approvalToken` to get a new preview.",
  });

/** Covers the call and what the preview showed. */
const fingerprintOf = ({ operation, args }: ApprovalRequest, { approved }: MassMailing): string =>
  sha256(JSON.stringify(sortKeys([operation.name, args, approved])));

/** The same value for objects whose fields have another order. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sortKeys(value[name])]),
  );
}
