// Bodies of SES SendEmail and SendBulkEmail (docs.aws.amazon.com/ses, API v2 reference).
import * as z from "zod";

export const Tags = z.array(z.object({ Name: z.string().regex(/^[\w-]{1,256}$/), Value: z.string().regex(/^[\w-]{1,256}$/) })).max(50);
const Headers = z.array(z.object({ Name: z.string().min(1).max(126), Value: z.string().min(1).max(995) })).max(15);
const Text = z.object({ Data: z.string(), Charset: z.string().optional() });
const Destination = z.object({ ToAddresses: z.array(z.string()).min(1).max(50), BccAddresses: z.array(z.string()).max(49).optional() });
export type Destination = z.output<typeof Destination>;
const Tracking = z.object({
  OpenTrackingEnabled: z.enum(["ENABLED", "DISABLED"]).optional(),
  ClickTrackingEnabled: z.enum(["ENABLED", "DISABLED"]).optional(),
});
export const Attachments = z
  .array(z.object({ FileName: z.string(), ContentType: z.string().optional(), RawContent: z.string() }))
  .optional();
export const Common = z.object({
  FromEmailAddress: z.string(),
  ReplyToAddresses: z.array(z.string()).optional(),
  ConfigurationSetName: z.string().optional(),
  ConfigurationOverrides: z.object({ Tracking: Tracking.optional() }).optional(),
});
export const Single = Common.extend({
  Destination,
  EmailTags: Tags.optional(),
  Content: z.object({
    Simple: z.object({
      Subject: Text,
      Body: z.object({ Text: Text.optional(), Html: Text.optional() }),
      Headers: Headers.optional(),
      Attachments,
    }),
  }),
});
const Entry = z.object({
  Destination,
  ReplacementTags: Tags.optional(),
  ReplacementHeaders: Headers.optional(),
  ReplacementEmailContent: z
    .object({ ReplacementTemplate: z.object({ ReplacementTemplateData: z.string().optional() }).optional() })
    .optional(),
});
export const Bulk = Common.extend({
  DefaultEmailTags: Tags.optional(),
  DefaultContent: z.object({
    Template: z.object({
      TemplateContent: z.object({ Subject: z.string().optional(), Text: z.string().optional(), Html: z.string().optional() }),
      TemplateData: z.string().optional(),
      Headers: Headers.optional(),
      Attachments,
    }),
  }),
  BulkEmailEntries: z.array(Entry).min(1).max(50),
});
export type Common = z.output<typeof Common>;
