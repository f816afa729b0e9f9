// The link to a secure message. Its token is sealed and follows from the send, so a notice that is made again is the same to the
// byte; it is stored nowhere, not even as a hash.
import { config } from "../../config.ts";
import * as sealed from "../sealed-tokens.ts";

/** Makes links without further waiting, for whoever needs many. */
export async function links(orgId: number): Promise<(sendId: number) => string> {
  const seal = await sealed.sealer("secure");
  return (sendId) => `${config.publicUrl}/secure/${seal([orgId, sendId])}`;
}

/** Which message a token opens; undefined for anything that is no token of ours. */
export async function opened(token: string): Promise<{ orgId: number; id: number } | undefined> {
  const content = await sealed.opened("secure", token);
  if (!content) return undefined;
  const [orgId, id] = content as [number, number];
  return { orgId, id };
}
