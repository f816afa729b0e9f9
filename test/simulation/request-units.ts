// Sizes of items and the request units that DynamoDB charges for them.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
import type { WireItem, WireValue } from "./expressions.ts";

/** The largest item that DynamoDB stores, in bytes. */
export const maxItemBytes = 400 * 1024;

// Stored items never change.
const knownSizes = new WeakMap<WireItem, number>();

export function sizeOfItem(item: WireItem | undefined): number {
  if (!item) return 0;
  const known = knownSizes.get(item);
  if (known !== undefined) return known;
  const size = sizeOfAttributes(item);
  knownSizes.set(item, size);
  return size;
}

function sizeOfAttributes(item: WireItem): number {
  let size = 0;
  for (const name in item) size += Buffer.byteLength(name) + sizeOfValue(item[name]!);
  return size;
}

function sizeOfValue({ S, N, B, M, L, SS, NS }: WireValue): number {
  if (S !== undefined) return Buffer.byteLength(S as string);
  if (N !== undefined) return sizeOfNumber(N as string);
  if (B !== undefined) return Buffer.byteLength(B as string, "base64");
  if (M !== undefined)
    return 3 + Object.keys(M as WireItem).length + sizeOfAttributes(M as WireItem);
  if (L !== undefined) return sum(L as WireValue[], (member) => 1 + sizeOfValue(member)) + 3;
  if (SS !== undefined) return sum(SS as string[], (member) => Buffer.byteLength(member));
  if (NS !== undefined) return sum(NS as string[], sizeOfNumber);
  return 1;
}

/** One byte for each two digits, and one byte more. */
const sizeOfNumber = (digits: string): number => Math.ceil(digits.length / 2) + 1;

const sum = <T>(all: T[], sizeOf: (one: T) => number): number =>
  all.reduce((total, one) => total + sizeOf(one), 0);

/** Units of a read of so many bytes. An eventually consistent read costs half. */
export const readUnits = (bytes: number, isConsistent: boolean | undefined): number =>
  Math.max(1, Math.ceil(bytes / 4096)) * (isConsistent ? 1 : 0.5);

/** Units of a write, by the larger one of the item before and after it. */
export const writeUnits = (before: WireItem | undefined, after: WireItem | undefined): number =>
  Math.max(1, Math.ceil(Math.max(sizeOfItem(before), sizeOfItem(after)) / 1024));
