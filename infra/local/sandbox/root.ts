// The sandbox's own keys, one set per DATA_DIR.
import { generateKeyPair, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { selfSigned } from "./certificates.ts";

export interface RootKeys {
  /** All accounts, keys and secrets follow from this. */
  root: Buffer;
  /** Signs SNS messages; made when first needed, since an RSA key takes a moment. */
  sns(): Promise<SigningKey>;
}

interface SigningKey {
  privateKey: string;
  certificate: string;
}

interface Stored {
  root: string;
  sns?: SigningKey;
}

/** `folder` undefined: nothing is kept. */
export function openKeys(folder: string | undefined): RootKeys {
  const stored: Stored = (folder && read(folder)) || { root: randomBytes(32).toString("hex") };
  const save = () => folder && replace(join(folder, fileName), JSON.stringify(stored));
  save();
  let making: Promise<SigningKey> | undefined;
  const make = async () => {
    stored.sns ??= await newSigningKey();
    save();
    return stored.sns;
  };
  return {
    root: Buffer.from(stored.root, "hex"),
    sns: () => {
      making ??= make();
      return making;
    },
  };
}

const fileName = "keys.json";

function read(folder: string): Stored | undefined {
  mkdirSync(folder, { recursive: true });
  try {
    return JSON.parse(readFileSync(join(folder, fileName), "utf8")) as Stored;
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw new Error(`${join(folder, fileName)} cannot be read`, { cause: error });
  }
}

/** Readers see the old file or the new one, never half of it. */
export function replace(path: string, content: string): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

async function newSigningKey(): Promise<SigningKey> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  return { privateKey, certificate: selfSigned(privateKey, "sns.amazonaws.com") };
}
