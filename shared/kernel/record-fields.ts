// Fields that many records have in common.
import * as z from "zod";

// Fields of responses. Their range and format are documented and not checked, so a response never
// fails because of them.

/** Id of a record in a response. */
export const RecordId = z.int().meta({ minimum: 1 });
/** Number of things in a response. */
export const Count = z.int().meta({ minimum: 0 });
/** Time in a response, such as `2026-12-01T09:00:00.412Z`. */
export const Timestamp = z.string().meta({ format: "date-time" });
/** Day in a response, such as `2026-12-01`. */
export const Day = z.string().meta({ format: "date" });

export const CreatedAt = Timestamp.describe("When it was created.");
export const UpdatedAt = Timestamp.describe("When it last changed.");
/** `siteId` of a record that belongs to one site. */
export const RecordSiteId = RecordId.describe("Id of the site that it belongs to.");

/** Fields that name deleted records. Only responses with one record have it. */
export const Missing = z
  .array(
    z
      .object({
        path: z.string().describe("Field that names the record, such as `triggerConfig.listId`."),
        message: z.string().describe("Which record no longer exists."),
      })
      .meta({ id: "MissingReference" }),
  )
  .optional()
  .describe(
    "Records that it uses and that were deleted. Returned only when one record is requested.",
  );

// Fields of requests.

/** Id of a record in a request. */
export const Id = z.int().positive();
/** `siteId` of a new record. */
export const NewSiteId = Id.optional().describe(
  "Id of the site that it belongs to. Defaults to the site of the API key, else to the " +
    "organization's only site.",
);

/** A time in a query. */
export const QueryTime = z.iso.datetime({ offset: true }).max(40);
