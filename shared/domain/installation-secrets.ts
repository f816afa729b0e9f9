// Secrets of the whole installation, made by whoever needs them first and sealed under the KMS key; they never change.
import { randomBytes } from "node:crypto";
import { claim, get, put } from "../doors/table.ts";
import * as vault from "../doors/vault.ts";
import { keys } from "../keys.ts";

const known = new Map<string, Buffer>();

/** 32 random bytes for one purpose, the same for ever. */
export async function secretFor(purpose: string): Promise<Buffer> {
  const kept = known.get(purpose);
  if (kept) return kept;
  const address = keys.installationSecret(purpose);
  const context = { purpose };
  let item = await get<{ sealed: string }>(address);
  if (!item) {
    await claim(put(address, { sealed: await vault.seal(randomBytes(32).toString("base64"), context) }, { new: true }));
    // Another may have been first: what is stored counts.
    item = (await get<{ sealed: string }>(address))!;
  }
  const secret = Buffer.from(await vault.open(item.sealed, context), "base64");
  known.set(purpose, secret);
  return secret;
}
