// The attachments of a campaign. Its files are S3 objects that are deleted with it. The start
// copies them to where the attachments of accepted mail are, because mail may outlive the campaign.
import { createHash } from "node:crypto";
import * as objects from "../../adapters/s3/objects.ts";
import { invalid, limitExceeded, missing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import * as log from "../../kernel/log.ts";
import { inParallel } from "../../kernel/parallel.ts";
import * as mailAttachments from "../sending/accept/attachments.ts";
import type { CampaignAttachmentFile, CampaignAttachmentInput } from "./campaign-mail-fields.ts";

export interface StoredCampaignAttachment extends mailAttachments.StoredAttachment {
  id: number;
}

interface CampaignKey {
  orgId: number;
  campaignId: number;
}

const maxTotalBytes = 2 * 1024 * 1024;
const maxParallelFiles = 4;

const blobOf = ({ orgId, campaignId }: CampaignKey, id: number): string =>
  `campaigns/${orgId}/${campaignId}/${id}`;

/**
 * Checks the files of a request and stores those that are new. Returns a function that adds them
 * to the attachments that the campaign has. Throws 400 when a file is not base64, not uploaded, or
 * when all together are too big.
 */
export async function storeAttachments(
  key: CampaignKey,
  inputs: CampaignAttachmentInput[],
): Promise<(current: StoredCampaignAttachment[]) => StoredCampaignAttachment[]> {
  const files = await Promise.all(
    inputs.map(({ id, filename = "", ...input }, i) =>
      id === undefined
        ? mailAttachments.validateAttachment(key.orgId, { ...input, filename }, i)
        : undefined,
    ),
  );
  requireTotal(files.flatMap((file) => file ?? []));
  const added = files.filter((file) => file !== undefined).length;
  const firstId = added ? await ids.nextId("CAMPAIGNFILE", added) : 0;
  let nextId = firstId;
  const withIds = files.map((file) => file && { id: nextId++, file });
  const stored = await inParallel(maxParallelFiles, withIds, async (entry) => {
    if (!entry) return undefined;
    const { file, id } = entry;
    const blob = blobOf(key, id);
    await (file.bytes
      ? objects.put(blob, file.bytes, file.type)
      : objects.copy(file.upload!.blob, blob));
    const { filename, type, size, contentId } = file;
    return { id, filename, type, size, blob, ...(contentId !== undefined && { contentId }) };
  });
  return (current) => {
    const all = inputs.map(
      ({ id }, i) => stored[i] ?? current.find((one) => one.id === id) ?? refuseUnknown(i),
    );
    requireTotal(all);
    return all;
  };
}

function refuseUnknown(i: number): never {
  const path = `attachments.${i}.id`;
  const message = "names no attachment of this campaign";
  throw invalid(`${path} ${message}`, { details: [{ path, message }] });
}

function requireTotal(files: { size: number }[]): void {
  if (files.reduce((sum, { size }) => sum + size, 0) > maxTotalBytes)
    throw limitExceeded("attachments", "attachments of a campaign can have at most 2 MB in total");
}

/** Deletes the files that the campaign no longer has. If that fails, they stay without use. */
export async function deleteFiles(
  before: StoredCampaignAttachment[] = [],
  after: StoredCampaignAttachment[] = [],
): Promise<void> {
  const kept = new Set(after.map(({ blob }) => blob));
  const unused = before.filter(({ blob }) => !kept.has(blob));
  await inParallel(maxParallelFiles, unused, ({ blob }) =>
    objects
      .remove(blob)
      .catch((error: unknown) => log.error("attachment of a campaign was not deleted", error)),
  );
}

/** Throws 404. */
export async function readFile(
  attachments: StoredCampaignAttachment[] = [],
  id: number,
): Promise<CampaignAttachmentFile> {
  const found = attachments.find((one) => one.id === id);
  const bytes = found && (await objects.get(found.blob));
  if (!bytes) throw missing("The attachment does not exist");
  const { filename, type, size, contentId = null } = found;
  const content = Buffer.from(bytes).toString("base64");
  return { id, filename, type, size, contentId, content };
}

/** Copies the files of another campaign. */
export async function copyAttachments(
  key: CampaignKey,
  attachments: StoredCampaignAttachment[] = [],
): Promise<StoredCampaignAttachment[]> {
  if (!attachments.length) return [];
  const firstId = await ids.nextId("CAMPAIGNFILE", attachments.length);
  return inParallel(maxParallelFiles, attachments, async (attachment) => {
    const id = firstId + attachments.indexOf(attachment);
    const blob = blobOf(key, id);
    await objects.copy(attachment.blob, blob);
    return { ...attachment, id, blob };
  });
}

/** Copies the files for mail that is accepted. Safe to repeat. */
export const copyToMail = (
  orgId: number,
  attachments: StoredCampaignAttachment[],
): Promise<mailAttachments.StoredAttachment[]> =>
  inParallel(maxParallelFiles, attachments, async ({ id: _, ...attachment }) => {
    const blob = `attachments/${orgId}/${nameOf(attachment.blob)}`;
    await objects.copy(attachment.blob, blob);
    return { ...attachment, blob };
  });

const nameOf = (blob: string): string => createHash("sha256").update(blob).digest("hex");

/** As the files of a single mail. */
export const toMailFiles = (
  attachments: StoredCampaignAttachment[] = [],
): mailAttachments.AttachmentFile[] =>
  attachments.map(({ filename, type, size, contentId, blob }) => ({
    ...{ filename, type, size, contentId },
    upload: { filename, type, size, blob, expires: 0 },
  }));
