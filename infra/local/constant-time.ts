// The one comparison of secrets of the local runner and the sandbox. The service has its own.
import { timingSafeEqual } from "node:crypto";

/** Compares in constant time, so that timing reveals no part of a secret. */
export function equalInConstantTime(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
