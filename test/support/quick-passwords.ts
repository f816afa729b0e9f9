// Makes password hashing fast in tests, because a sign-up would take a tenth of a second.
// test/unit/password-hashing.test.ts tests the real cost. This file must be loaded before all
// others, also in service processes (`node --import`).
import crypto, { type ScryptOptions } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

type Scrypt = (
  password: string,
  salt: Buffer,
  bytes: number,
  options: ScryptOptions,
  done: (error: Error | null, key: Buffer) => void,
) => void;

const { scrypt } = crypto as { scrypt: Scrypt };
const quick: Scrypt = (password, salt, bytes, options, done) =>
  scrypt(password, salt, bytes, { ...options, N: 2, p: 1 }, done);
Object.assign(crypto, { scrypt: quick });
syncBuiltinESMExports();
