// Stores the keys of the sandbox, one set per DATA_DIR.
import { generateKeyPair, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createSelfSignedCert } from "./sns-certificate.ts";

export interface RootKeys {
  /** All accounts, keys and secrets derive from this key. */
  root: Buffer;
  /** Signs SNS messages. The first call creates the RSA key, which takes a moment. */
  snsSigningKey(): Promise<SigningKey>;
}

interface SigningKey {
  privateKey: string;
  certificate: string;
}

interface StoredRootKeys {
  root: string;
  sns?: SigningKey;
}

/** Without `folder`, a restart loses the keys. */
export function loadRootKeys(folder: string | undefined): RootKeys {
  const stored: StoredRootKeys = (folder && readStored(folder)) || {
    root: randomBytes(32).toString("hex"),
  };
  const save = () => folder && writeAtomically(join(folder, fileName), JSON.stringify(stored));
  save();
  let pendingKey: Promise<SigningKey> | undefined;
  const make = async () => {
    stored.sns ??= await newSigningKey();
    save();
    return stored.sns;
  };
  return {
    root: Buffer.from(stored.root, "hex"),
    snsSigningKey: () => {
      pendingKey ??= make();
      return pendingKey;
    },
  };
}

const fileName = "keys.json";

function readStored(folder: string): StoredRootKeys | undefined {
  mkdirSync(folder, { recursive: true });
  try {
    return JSON.parse(readFileSync(join(folder, fileName), "utf8")) as StoredRootKeys;
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw new Error(`${join(folder, fileName)} cannot be read`, { cause: error });
  }
}

/** Replaces the file in one step, so that no reader sees half of it. */
export function writeAtomically(path: string, content: string): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

async function newSigningKey(): Promise<SigningKey> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  return { privateKey, certificate: createSelfSignedCert(privateKey, "sns.amazonaws.com") };
}
