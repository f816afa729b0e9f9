// An export as the answer itself, or, where it is too long for that, as a file to come.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { writers } from "../domain/exports/formats.ts";
import * as inline from "../domain/exports/inline.ts";
import * as exports from "../domain/exports.ts";
import { compressed } from "./compressed.ts";
import type { Extra, Request } from "./route.ts";

// Lambda answers with 6 MB at most, bytes as base64.
const maxBytes = 5_500_000;

/** What such a route returns. */
export const Exported = z.custom<string | Uint8Array | exports.Export>();
type Exported = z.output<typeof Exported>;

/** For routes with a `type` and `later`: the text, or 202 and the export that was begun. */
export async function exporting(caller: Caller, wish: exports.Wish, request: Request, reply: Extra): Promise<Exported> {
  const settled = await exports.settled(caller, wish);
  const text = await inline.text(caller, settled);
  const answer = text === undefined ? undefined : compressed(text, request, reply);
  if (answer !== undefined && sizeOf(answer) <= maxBytes) {
    reply.headers["content-type"] = writers[wish.format].type;
    reply.headers["content-disposition"] = `attachment; filename="${wish.type}.${wish.format}"`;
    return answer;
  }
  return begun(caller, settled, reply);
}

const sizeOf = (answer: string | Uint8Array): number =>
  typeof answer === "string" ? Buffer.byteLength(answer) : Math.ceil(answer.length / 3) * 4;

export async function begun(caller: Caller, wish: exports.Wish, reply: Extra): Promise<exports.Export> {
  delete reply.headers["content-encoding"];
  delete reply.headers.vary;
  reply.status = 202;
  return exports.start(caller, wish);
}
