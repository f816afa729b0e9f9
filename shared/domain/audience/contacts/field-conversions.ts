// The conversion of what contacts have in a custom field, after its type has changed. It is a job
// with one item per field: a later change of the type replaces it, and its worker stops.
import * as z from "zod";
import { get, put, type Write } from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import type { Caller, CallerScope, SiteRef } from "../../../caller.ts";
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import { missing } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { type JobAttributes, startedJobAttributes, toStarter } from "../../../kernel/job-index.ts";
import type { Leased } from "../../../kernel/leases.ts";
import { Count, CreatedAt, RecordId, UpdatedAt } from "../../../kernel/record-fields.ts";
import { dueShardOf, emailShards, indexAttributes, indexes, keys } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import * as sites from "../../identity/sites.ts";
import type { DeclaredField, GivenFormat } from "./declared-fields.ts";
import { FailedContact } from "./failed-contact.ts";
import { fieldTypes } from "./parse-field-value.ts";

export const maxFailures = 100;

export const FieldConversion = z
  .object({
    id: RecordId.describe("Id of the conversion in GET /jobs."),
    fieldName: z.string().describe("Name of the custom field."),
    type: z.enum(fieldTypes).describe("Type that the values get."),
    status: z
      .enum(["queued", "running", "completed", "failed"])
      .describe(
        "`queued`: waits for a worker. `running`: values are being converted. `completed`: all " +
          "were processed. `failed`: stopped by an error; what was converted stays.",
      ),
    progress: Count.describe("Progress in per cent."),
    processed: Count.describe("Contacts with a value that were processed: converted + failed."),
    converted: Count.describe(
      "Contacts whose value is of the type now, including those whose value was so before.",
    ),
    failed: Count.describe("Contacts that keep a value that cannot be read as the type."),
    errors: z.array(FailedContact).describe(`The first ${maxFailures} of these contacts.`),
    error: z.string().nullable().describe("Why the conversion failed as a whole, or `null`."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "FieldConversion" });
export type FieldConversion = z.output<typeof FieldConversion>;

export interface FieldConversionItem extends Leased, JobAttributes {
  id: number;
  orgId: number;
  siteId: number;
  name: string;
  type: DeclaredField["type"];
  format: GivenFormat;
  status: FieldConversion["status"];
  error?: string;
  /** The shard that is read next, and the email after which. */
  shard: number;
  after: string | null;
  processed: number;
  failed: number;
  failures: z.output<typeof FailedContact>[];
  createdAt: string;
  updatedAt: string;
  /** Unix seconds. */
  expires: number;
}

/** Names the item of a conversion. */
export interface ConversionRef extends SiteRef {
  name: string;
}

export const keyOf = ({ orgId, siteId, name }: ConversionRef) =>
  keys.fieldConversion(orgId, siteId, name);

const keptSeconds = 30 * 24 * 3600;

/** The conversion to store in the transaction that changes the type. Enqueue it afterwards. */
export async function prepareConversion(
  caller: Caller,
  { siteId, name, type, format }: Pick<FieldConversionItem, "siteId" | "name" | "type" | "format">,
): Promise<{ item: FieldConversionItem; write: Write }> {
  const { orgId } = caller;
  const id = await ids.nextId("FIELDCONVERSION");
  const createdAt = now().toISOString();
  const item: FieldConversionItem = {
    ...{ id, orgId, siteId, name, type, format },
    status: "queued",
    ...{ shard: 0, after: null, processed: 0, failed: 0, failures: [] },
    ...{ createdAt, updatedAt: createdAt },
    startedBy: toStarter(caller),
    expires: epochSeconds(addSeconds(keptSeconds)),
    ...dueAttributes(siteId, 60),
    ...startedJobAttributes(orgId, { type: "field_conversion", id, siteId, createdAt }),
  };
  return { item, write: put(keyOf(item), item) };
}

export const dueAttributes = (siteId: number, seconds: number) =>
  indexAttributes(indexes.due("CONVERSION", dueShardOf(siteId)), addSeconds(seconds).toISOString());

/**
 * A request that has read the old type may still be storing a contact. The first message waits for
 * it, so that the conversion sees its value.
 */
const startDelaySeconds = 10;

export const enqueueStart = (conversion: ConversionRef): Promise<void> =>
  enqueueConversion(conversion, startDelaySeconds);

export const enqueueConversion = (
  { orgId, siteId, name }: ConversionRef,
  delaySeconds = 0,
): Promise<void> =>
  enqueue(queues.jobs, [{ job: "convert-field", orgId, siteId, name }], {
    group: orgId,
    delaySeconds,
  });

/** Throws 404 if the type of the field has not changed within 30 days. */
export async function find(
  caller: CallerScope,
  name: string,
  givenSiteId: number | undefined,
): Promise<FieldConversion> {
  const siteId = await sites.resolveSiteId(caller, givenSiteId);
  const item = await get<FieldConversionItem>(keyOf({ orgId: caller.orgId, siteId, name }));
  if (!item || item.expires <= epochSeconds())
    throw missing("The type of the field has not changed within the last 30 days");
  return toApi(item);
}

export const percentOf = ({ status, shard }: FieldConversionItem): number =>
  status === "completed" ? 100 : Math.min(99, Math.floor((100 * shard) / emailShards.length));

export const toApi = (item: FieldConversionItem): FieldConversion => ({
  id: item.id,
  fieldName: item.name,
  type: item.type,
  status: item.status,
  progress: percentOf(item),
  processed: item.processed,
  converted: item.processed - item.failed,
  failed: item.failed,
  errors: item.failures,
  error: item.error ?? null,
  createdAt: item.createdAt,
  updatedAt: item.updatedAt,
});
