import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { findStored, Send, toApi } from "../sending/sends.ts";
import * as history from "./send-history.ts";

export const SendDetail = Send.extend({
  events: z
    .array(history.EmailEvent)
    .describe("Events of the send, oldest first. At most about 1,000."),
}).meta({ id: "SendDetail" });
export type SendDetail = z.output<typeof SendDetail>;

/** A send with its events. Throws 404. */
export async function findDetail(caller: Caller, id: number): Promise<SendDetail> {
  const item = await findStored(caller, id);
  return {
    ...toApi(item),
    events: await history.listEventsOfSend(caller.orgId, { v: 0, ...item }),
  };
}
