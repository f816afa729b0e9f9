// Request schemas of POST /send, and of the list of such emails.
import * as z from "zod";
import { mailboxListSchema, normalizeEmail, singleLineText } from "../../../kernel/email-fields.ts";
import {
  contentAndSender,
  contentRules,
  hasNoSecureImages,
  hasSender,
  imagesNotSecure,
  isPassphraseAllowed,
  MessageFields,
  Metadata,
  mistakenNames,
  passphraseNeedsSecure,
  senderMissing,
} from "./message-fields.ts";

type MailboxList = z.output<ReturnType<typeof mailboxListSchema>>;

interface AddressFields {
  to: MailboxList;
  toName?: string | undefined;
  cc?: MailboxList | undefined;
  bcc?: MailboxList | undefined;
}

interface AddressedTo {
  /** The recipient. */
  to: string;
  toName?: string | undefined;
  alsoTo?: MailboxList | undefined;
  cc?: MailboxList | undefined;
  bcc?: MailboxList | undefined;
}

/**
 * The first address of `to` is the recipient, and `alsoTo` are the others. An address that is
 * repeated counts where it stands first.
 */
function nameRecipient({ to, toName, cc, bcc }: AddressFields): AddressedTo {
  const seen = new Set<string>();
  const withoutRepeats = (mailboxes: MailboxList) =>
    mailboxes.filter(({ email }) => {
      const isNew = !seen.has(normalizeEmail(email));
      seen.add(normalizeEmail(email));
      return isNew;
    });
  const [first, ...alsoTo] = withoutRepeats(to);
  return {
    to: first!.email,
    toName: first!.name ?? toName,
    ...(alsoTo.length && { alsoTo }),
    ...(cc && { cc: withoutRepeats(cc) }),
    ...(bcc && { bcc: withoutRepeats(bcc) }),
  };
}

/** All addresses that a message goes to, the recipient's first. */
export const addressesOf = ({ to, alsoTo = [], cc = [], bcc = [] }: AddressedTo): string[] => [
  to,
  ...[...alsoTo, ...cc, ...bcc].map(({ email }) => email),
];

// Several providers take no more.
const maxAddressees = 50;

const SingleMessageFields = MessageFields.extend({
  to: mailboxListSchema(maxAddressees).describe(
    "Email address of the recipient, `{email, name}`, or a list. Everyone in the list gets the " +
      "same email and sees the others; to send to each alone, use POST /send/batch. The send " +
      "and its statistics are about the first. `to`, `cc` and `bcc` can have 50 addresses " +
      "together, and each counts as an email.",
  ),
  cc: mailboxListSchema(maxAddressees)
    .optional()
    .describe("Gets a copy, and is shown in the email. An address, `{email, name}`, or a list."),
  bcc: mailboxListSchema(maxAddressees)
    .optional()
    .describe("Gets a copy, and is not shown. An address, `{email, name}`, or a list."),
  toName: singleLineText(100)
    .optional()
    .describe("Name of the recipient. Templates read it as `name`."),
  metadata: Metadata.optional().describe(
    "Your own data, stored with the send and returned with it: up to 20 fields and 1,000 " +
      "bytes of JSON. It is not sent to the provider.",
  ),
});

const withRules = (hasBody: (message: z.output<typeof SingleMessageFields>) => boolean) =>
  SingleMessageFields.refine(contentRules.hasContent, contentRules.contentMissing)
    .refine(contentRules.hasSubject, contentRules.subjectMissing)
    .refine(hasBody, contentRules.htmlMissing)
    .refine(hasSender, senderMissing)
    .refine(isPassphraseAllowed, passphraseNeedsSecure)
    .refine(hasNoSecureImages, imagesNotSecure)
    .refine(({ to, cc = [], bcc = [] }) => to.length + cc.length + bcc.length <= maxAddressees, {
      error: `can have ${maxAddressees} addresses at most, together with cc and bcc`,
      path: ["to"],
    })
    .refine(({ secure, to, cc, bcc }) => !secure || (to.length === 1 && !cc && !bcc), {
      error: "can have only one address with secure: true, and no cc or bcc",
      path: ["to"],
    })
    .transform(({ to, toName, cc, bcc, ...message }) => ({
      ...message,
      ...nameRecipient({ to, toName, cc, bcc }),
    }));

/** A message that came in another format, such as MIME: it may have a text and no HTML. */
export const TranslatedMessage = withRules(
  ({ text, ...message }) => text !== undefined || contentRules.hasHtml(message),
);

export const SingleMessage = withRules(contentRules.hasHtml).meta({
  ...contentAndSender,
  mistakenNames: {
    ...mistakenNames,
    recipient: "to",
    recipients: "to",
    toemail: "to",
    email: "to",
  },
  examples: [
    {
      to: "ada@example.com",
      fromEmail: "hello@shop.example",
      subject: "Hello {{ firstName }}",
      html: "<p>Your order is on its way.</p>",
      variables: { firstName: "Ada" },
    },
  ],
});
export type SingleMessage = z.output<typeof SingleMessage>;

const maxMessages = 100;
const singleMessageReference = z.object({}).meta({ $ref: "#/$defs/SendEmailRequest" });

/** Messages are validated one by one, so that an invalid one is rejected alone. */
export const MessageList = z
  .object({
    messages: z
      .array(z.looseObject({}).meta({ documentedAs: singleMessageReference }))
      .min(1)
      .max(maxMessages)
      .describe("1 to 100 emails, each as in POST /send."),
  })
  .meta({
    examples: [
      {
        messages: [
          {
            to: "ada@example.com",
            fromEmail: "hello@shop.example",
            subject: "Your order 1843 is on its way",
            html: "<p>It arrives on Tuesday.</p>",
          },
          {
            to: "grace@example.com",
            fromEmail: "hello@shop.example",
            templateId: 1,
            variables: { firstName: "Grace" },
          },
        ],
      },
    ],
  });
