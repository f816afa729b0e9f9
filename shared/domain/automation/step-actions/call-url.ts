// Sends the request of an action `call_url`, and stores values of its response in the contact.
import { ConditionFailed, get, transact, write } from "../../../adapters/dynamodb/table.ts";
import { addSeconds } from "../../../clock.ts";
import { isTransient, undefinedIfMissing } from "../../../errors.ts";
import { parseJson } from "../../../kernel/json.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { keys } from "../../../keys.ts";
import { findSurvivor } from "../../audience/contacts/contact-lookups.ts";
import { ContactChanges, type ContactItem } from "../../audience/contacts/contact-schema.ts";
import * as contacts from "../../audience/contacts/contacts.ts";
import { CustomFields } from "../../audience/contacts/custom-fields.ts";
import * as declaredFields from "../../audience/contacts/declared-fields.ts";
import { postSigned, toMessageId } from "../../webhooks/deliver-event.ts";
import { jitter, retrySeconds } from "../../webhooks/delivery-row.ts";
import * as hostPace from "../../webhooks/host-pace.ts";
import { findItem, getCallSecret } from "../sequence-schema.ts";
import { type ChangeableField, customNameOf } from "./action-config.ts";
import {
  abandonTask,
  type CallContent,
  postponeTask,
  readContent,
  removeTaskWrite,
  type StepTask,
  type StoredTask,
  undeliveredWrite,
} from "./step-tasks.ts";

interface Call extends StepTask {
  content: CallContent;
}

const maxResponseBytes = 64_000;
const gone = 410;

/**
 * Calls the URL at least once, always under the same webhook-id, and stores its response once, in
 * the contact or in the one that it was merged into. A deleted contact or sequence ends the task.
 */
export async function callUrl(task: StoredTask): Promise<void> {
  const { orgId, taskId } = task;
  const call: Call = { ...task, content: await readContent<"call">(task) };
  const [sequence, contact] = await Promise.all([
    findItem({ orgId }, call.sequenceId).catch(undefinedIfMissing),
    findSurvivor(orgId, call.contactId),
  ]);
  if (!sequence || !contact) return void (await transact(removeTaskWrite(call)));
  const { url, body, saveResponse } = call.content;
  const { calls, waitUntil } = await hostPace.take(orgId, url, 1);
  if (!calls) return postponeTask(call, waitUntil!);
  const { delivered, responseStatus, text } = await postSigned({
    url,
    body,
    secrets: [await getCallSecret(orgId, sequence)],
    messageId: toMessageId(`step ${orgId} ${taskId}`),
    ...(saveResponse.length && { maxResponseBytes }),
  });
  if (delivered) return finish(call, contact, text);
  const seconds = responseStatus === gone ? undefined : retrySeconds[call.tries];
  if (seconds === undefined) await abandonTask(call);
  else await postponeTask(call, addSeconds(seconds * jitter()), call.tries + 1);
}

async function finish(call: Call, read: ContactItem, text = ""): Promise<void> {
  const { orgId, contactId } = call;
  await retryOnConflict("The contact", async (attempt) => {
    const contact = attempt === 1 ? read : await findSurvivor(orgId, contactId);
    const { changes, hasFaults } = contact
      ? await readResponse(call, contact, text)
      : { changes: {}, hasFaults: false };
    const endWrites = [removeTaskWrite(call), ...(hasFaults ? [undeliveredWrite(call)] : [])];
    if (contact && Object.keys(changes).length) {
      const chain = { depth: call.depth, refusedIds: new Set<number>() };
      const commit = (...writes: Parameters<typeof write>) => write(...endWrites, ...writes);
      return saveResponse(call, () => contacts.commitChange(contact, changes, { commit, chain }));
    }
    await transact(...endWrites);
  });
}

/** Another worker may have done the task. What a contact cannot have ends it. */
async function saveResponse(call: Call, save: () => Promise<unknown>): Promise<void> {
  try {
    await save();
  } catch (error) {
    if (error instanceof ConditionFailed) {
      const current = await get<{ v: number }>(keys.stepTask(call.orgId, call.taskId));
      if (current?.v !== call.v) return;
      throw error;
    }
    if (isTransient(error)) throw error;
    await abandonTask(call);
  }
}

interface ReadResponse {
  changes: ContactChanges;
  /** Some values could not be read, or their fields cannot have them. */
  hasFaults: boolean;
}

async function readResponse(
  { content: { saveResponse: wanted } }: Call,
  contact: ContactItem,
  text: string,
): Promise<ReadResponse> {
  if (!wanted.length) return { changes: {}, hasFaults: false };
  const json = parseJson(text);
  const standard: Record<string, unknown> = {};
  const custom: Record<string, unknown> = {};
  let faults = 0;
  for (const { path, field } of wanted) {
    const value = valueAt(json, path);
    const name = customNameOf(field);
    const schema =
      name === undefined ? ContactChanges.shape[field as ChangeableField] : CustomFields;
    const given = name === undefined ? value : { [name]: value };
    if (value === undefined || !schema.safeParse(given).success) faults++;
    else if (name === undefined) standard[field] = value;
    else custom[name] = value;
  }
  const row = { customFields: custom as ContactItem["customFields"] };
  const [read] = await declaredFields.readRows(contact, [row]);
  const { customFields = {} } = read!.row;
  return {
    changes: { ...standard, ...(Object.keys(customFields).length && { customFields }) },
    hasFaults: faults + read!.faults.length > 0,
  };
}

/** Dots lead into objects and lists. */
function valueAt(json: unknown, path: string): unknown {
  let value = json;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
