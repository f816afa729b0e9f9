// Passwords of tests are hashed in no time: a sign-up is a tenth of a second otherwise, a thousand
// times over. What it costs outside is proven by test/unit/password-hashing.test.ts. To be loaded
// before anything else, also by a service of its own (`node --import`).
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
