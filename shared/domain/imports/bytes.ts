// The bytes of a file in object storage, piece by piece: of a file of a gigabyte no more is held than of a small one.
import * as blobs from "../../doors/blobs.ts";
import { invalid } from "../../errors.ts";

export interface File {
  blob: string;
  /** Bytes. */
  size: number;
  /** As first seen: what is read in several turns must stay the same. */
  tag?: string | undefined;
}

const fetchedBytes = 1024 * 1024;
// Whoever reads rows makes all of a piece at once.
const pieceBytes = 64 * 1024;

/** From `from` to the end. Throws `invalid` when the file is gone or another one. */
export async function* piecesOf({ blob, size, tag }: File, from: number): AsyncGenerator<Uint8Array> {
  for (let at = from; at < size; at += fetchedBytes) {
    const { bytes } = await pieceAt(blob, at, Math.min(fetchedBytes, size - at), tag);
    for (let begin = 0; begin < bytes.length; begin += pieceBytes) yield bytes.subarray(begin, begin + pieceBytes);
  }
}

/** The first bytes, and the tag. */
export const headOf = ({ blob, size }: File, bytes: number): Promise<blobs.Piece> => pieceAt(blob, 0, Math.min(bytes, size), undefined);

async function pieceAt(blob: string, at: number, length: number, tag: string | undefined): Promise<blobs.Piece> {
  const piece = await blobs.piece(blob, at, length);
  if (!piece) throw invalid("The file is gone: upload it again");
  if (piece.bytes.length !== length || (tag !== undefined && piece.tag !== tag))
    throw invalid("The file was uploaded anew while it was read: import it again");
  return piece;
}
