// Attachments as a request gives them.
import * as z from "zod";
import { exactlyOneOf } from "../../../kernel/either-or.ts";
import { singleLineText } from "../../../kernel/email-fields.ts";
import { maxContentLength } from "../attachment-types.ts";

/** `content` in base64, or the `uploadId` that POST /attachments gave. */
export const AttachmentInput = exactlyOneOf(
  z.object({
    filename: singleLineText(200)
      .min(1)
      .refine((name) => !/[\\/]/.test(name), "must not contain slashes")
      .describe("Name of the file, without slashes."),
    type: z
      .string()
      .max(100, { abort: true })
      .regex(
        /^[\w.+-]+\/[\w.+-]+( ?; ?[\w-]+="?[\w.+-]+"?)*$/,
        "must be a content type such as application/pdf",
      )
      .optional()
      .describe(
        "Content type, such as `application/pdf`. Defaults to the type of the upload, else " +
          "to the type of the file name's ending.",
      ),
    contentId: z
      .string()
      .regex(/^[\w.@-]{1,100}$/, "must be 1 to 100 letters, digits, dots, dashes, _ or @")
      .meta({ maxLength: 100 })
      .optional()
      .describe(
        'Shows the image where the HTML has `<img src="cid:<contentId>">`, and not in the list ' +
          "of files. Images only, and not with Brevo.",
      ),
    content: z
      .string()
      .meta({ maxLength: maxContentLength })
      .optional()
      .describe("Content of the file in base64. Give either this or `uploadId`."),
    uploadId: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe("Id of a finished upload: see POST /attachments. Give either this or `content`."),
  }),
  ["content", "uploadId"],
).meta({ id: "Attachment" });
export type AttachmentInput = z.output<typeof AttachmentInput>;
