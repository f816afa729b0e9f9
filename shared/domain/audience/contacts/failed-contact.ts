import * as z from "zod";
import { RecordId } from "../../../kernel/record-fields.ts";

/** A contact for which a request failed. */
export const FailedContact = z
  .object({
    contactId: RecordId.describe("Id of the contact, from the request."),
    error: z.string().describe("Why it failed, in one sentence."),
  })
  .meta({ id: "FailedContact" });
