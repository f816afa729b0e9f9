// The footer and headers of marketing mail, up to the request to each of the ten apiProviders.

import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { compose, type MailRecipient } from "../../shared/domain/sending/rendering/compose.ts";
import type {
  LiquidMail,
  MailContent,
} from "../../shared/domain/sending/rendering/mail-content.ts";
import {
  buildMarketingHeaders,
  type MarketingLinks,
  type RecipientLinks,
} from "../../shared/domain/sending/rendering/marketing-mail.ts";
import { fillMergeText, type Mailing } from "../../shared/providers/provider-adapter.ts";
import { apiProviders } from "../support/api-providers.ts";
import fc from "../support/fast-check.ts";
import type { DeliveredMail, ProviderApi } from "../support/provider-apis/provider-api.ts";
import {
  type RecordingServer,
  startRecordingServer,
} from "../support/provider-apis/recording-server.ts";

const base = "https://mail.example.com/api/v1/unsubscribe";
const linksOf = ({ sendId }: { sendId: number }): RecipientLinks => ({
  unsubscribePage: `${base}/T${sendId}`,
  preferencePage: `${base}/T${sendId}?view=preferences`,
  oneClickUnsubscribe: `${base}?token=T${sendId}`,
  contactToken: () => `V${sendId}`,
  browserPage: () => `https://mail.example.com/view/B${sendId}`,
});
const marketing: MarketingLinks = {
  orgId: 1,
  siteId: 2,
  companyName: "Müller & Söhne",
  physicalAddress: "1 High <Street>\r\n\n  London ",
  unsubscribeUrl: null,
  linksOf,
};
const content: MailContent = {
  from: { email: "news@mg.example.com", name: "Shop" },
  headers: { "List-Unsubscribe": "<mailto:all@example.com>" },
  tags: [],
  variables: {},
  attachments: [],
  at: "2026-01-02T03:04:05.678Z",
};
const recipients: MailRecipient[] = [
  {
    sendId: 11,
    to: "ada@example.net",
    name: "Ada",
    contactId: 1,
    variables: { name: "Ada & <Co>" },
  },
  {
    sendId: 12,
    to: "ben@example.net",
    contactId: 2,
    variables: { unsubscribeUrl: "https://evil.example", contactToken: "mine" },
  },
];
const mailing = (wording: LiquidMail, given = content, addressees = recipients): Mailing => {
  const { common, renderRecipient } = compose(given, wording, []);
  return { ...common, recipients: addressees.map((one) => renderRecipient(one)) };
};

function read(wording: LiquidMail, n = 0) {
  const one = mailing(wording);
  const recipient = one.recipients[n]!;
  const fill = (pieces: Mailing["subject"] | undefined) => fillMergeText(pieces ?? [], recipient);
  return { html: fill(one.html), text: fill(one.text), headers: recipient.headers };
}

describe("the footer", () => {
  const html = "<html><body><p>Hi {{ name }}</p></BODY ></html>";

  it("is at the end of the body, with company, address and the recipient's link", () => {
    for (const [n, id] of [11, 12].entries()) {
      const rendered = read({ subject: "s", html, marketing }, n).html;
      expect(rendered).toMatch(
        /<p>Hi .*<\/p><div .*Müller &amp; Söhne<br>1 High &lt;Street&gt;<br>London<br><a .*<\/a><\/div><\/BODY ><\/html>$/,
      );
      expect(rendered.split(`href="${base}/T${id}"`)).toHaveLength(2);
      expect(rendered).not.toMatch(/evil|T1[12].*T1[12]/);
    }
  });

  it.each<[string, Partial<LiquidMail>]>([
    ["made from the html", { html }],
    ["that is given", { html, text: "Hi {{ name }}" }],
    ["without html", { text: "Hi {{ name }}" }],
  ])("is in a text %s", (_, parts) => {
    const rendered = read({ subject: "s", ...parts, marketing }).text;
    expect(rendered).toBe(
      `Hi Ada & <Co>\n\n----------\nMüller & Söhne\n1 High <Street>\nLondon\nUnsubscribe: ${base}/T11\n`,
    );
  });

  it("has no address line without an address", () => {
    const rendered = read({
      subject: "s",
      html,
      marketing: { ...marketing, physicalAddress: null },
    }).text;
    expect(rendered).toContain("----------\nMüller & Söhne\nUnsubscribe: ");
  });

  it("is in the language of the html", () => {
    const rendered = read({
      subject: "s",
      html: '<html lang="de-AT"><body>Hallo</body></html>',
      text: "Hallo",
      marketing,
    });
    expect([rendered.html, rendered.text]).toEqual([
      expect.stringContaining(">Abmelden</a>"),
      expect.stringContaining("Abmelden: https"),
    ]);
  });

  const ownLink = '<a href="{{ unsubscribeUrl }}">out</a>';
  const ownAddress = "<p>{{ postalAddress }}</p>";

  it("has only the address in a template with an unsubscribe link", () => {
    const { html, text } = read({ subject: "s", html: ownLink, marketing }, 1);
    for (const part of [html, text]) {
      expect(part.split(`${base}/T12`)).toHaveLength(2);
      expect(part).toContain("London");
      expect(part).not.toContain("Unsubscribe");
    }
  });

  it("has only the links in a template with the postal address", () => {
    const wording = { subject: "s", html: ownAddress, marketing: { ...marketing, topicId: 4 } };
    const { html, text } = read(wording);
    expect(html).toContain("<p>1 High &lt;Street&gt;, London</p>");
    expect(text).toContain("1 High <Street>, London");
    for (const part of [html, text]) {
      expect(part.split("London")).toHaveLength(2);
      expect(part).not.toMatch(/Müller/);
      expect(part).toContain(`${base}/T11`);
      expect(part).toContain(`${base}/T11?view=preferences`);
    }
  });

  it.each<[string, string | undefined]>([
    ["made from the html", undefined],
    ["that has both", "{{ postalAddress }} {{ unsubscribeUrl }}"],
  ])("stays away where the template shows both, with a text %s", (_, text) => {
    const wording = { subject: "s", html: `<p>${ownAddress}${ownLink}</p>`, text, marketing };
    const rendered = read(wording);
    for (const part of [rendered.html, rendered.text]) {
      expect(part.split(`${base}/T11`)).toHaveLength(2);
      expect(part.split("London")).toHaveLength(2);
      expect(part).not.toMatch(/Müller|Unsubscribe/);
    }
  });

  it("is whole in a text without the parts that the html has", () => {
    const html = ownAddress + ownLink;
    expect(read({ subject: "s", html, text: "Hi", marketing }).text).toBe(
      `Hi\n\n----------\nMüller & Söhne\n1 High <Street>\nLondon\nUnsubscribe: ${base}/T11\n`,
    );
  });

  it.each([
    ["in a condition", "{% if vip %}{{ unsubscribeUrl }} {{ postalAddress }}{% endif %}"],
    ["in a comment of the html", "<!-- {{ unsubscribeUrl }} {{ postalAddress }} -->"],
    ["in a hidden element", '<p style="display:none">{{ unsubscribeUrl }}{{ postalAddress }}</p>'],
    ["with a filter", "{{ unsubscribeUrl | truncate: 9 }} {{ postalAddress | truncate: 3 }}"],
    ["after a break", "{% break %}{{ unsubscribeUrl }} {{ postalAddress }}"],
    ["as text of Liquid", "{% raw %}{{ unsubscribeUrl }} {{ postalAddress }}{% endraw %}"],
    [
      "with values of the template",
      '{% assign unsubscribeUrl = "a" %}{% assign postalAddress = "b" %}' +
        "{{ unsubscribeUrl }}{{ postalAddress }}",
    ],
  ])("is whole where the template has both %s", (_, body) => {
    const { html } = read({ subject: "s", html: `<html><body>${body}</body></html>`, marketing });
    expect(html).toMatch(/Müller &amp; Söhne<br>1 High &lt;Street&gt;<br>London<br><a /);
    expect(html).toContain(`${base}/T11" style`);
  });

  it("is in every mail, whatever its content", () => {
    const anything = fc.array(
      fc.oneof(
        fc.string(),
        fc.constantFrom("</body>", "<body>", "</html>", "{{ name }}", "{{ raw | raw }}", "<!--"),
      ),
    );
    const words = anything.map((parts) =>
      parts.join("").replace(/\{(?=[{%])(?!\{ (name|raw))/g, "("),
    );
    fc.assert(
      fc.property(words, fc.option(words, { nil: undefined }), fc.string(), (made, text, raw) => {
        const wording = { subject: "{{ raw }}", html: made, text, marketing };
        const one = mailing(wording, content, [
          { ...recipients[0]!, variables: { name: raw, raw } },
          recipients[1]!,
        ]);
        for (const [n, id] of [11, 12].entries())
          for (const part of [one.html!, one.text!]) {
            const filled = fillMergeText(part, one.recipients[n]!);
            expect(filled).toContain("London");
            expect(filled).toContain(`${base}/T${id}`);
          }
      }),
    );
  });
});

test("a template can use the link and the contact's token, and variables cannot replace them", () => {
  expect(
    read({ subject: "s", text: "{{ unsubscribeUrl }} {{ contactToken }}", marketing }, 1).text,
  ).toMatch(new RegExp(`^${base.replaceAll(".", "\\.")}/T12 V12\n`));
});

test("transactional mail has no footer", () => {
  const wording = { subject: "s", html: "<p>{{ unsubscribeUrl }}{{ contactToken }}</p>" };
  expect(read(wording)).toMatchObject({ html: "<p></p>", text: "", headers: {} });
});

describe.each(apiProviders)("$name gets", (provider) => {
  let outside: RecordingServer;
  let wire: ProviderApi;
  beforeAll(async () => {
    wire = (await import(`../support/provider-apis/${provider.key}.ts`))[provider.key];
    outside = await startRecordingServer();
    process.env[`PROVIDER_URL_${provider.key.toUpperCase()}`] = outside.origin;
  });
  afterAll(() => outside.close());

  async function delivered(sent: Mailing): Promise<DeliveredMail[]> {
    outside.requests.length = 0;
    outside.setReply(wire.success(sent.recipients.length));
    const outcomes = await provider.send({
      mailing: sent,
      credentials: provider.credentials.parse(wire.credentials),
      idempotencyKey: "k",
    });
    expect(outcomes.map(({ status }) => status)).toEqual(sent.recipients.map(() => "accepted"));
    expect(outside.requests).toHaveLength(1);
    return wire.readMails(outside.requests[0]!);
  }

  it("Reply-To, and the headers of marketing mail that it lets through", async () => {
    const source = { kind: "campaign", id: 7 } as const;
    const config = { provider: provider.key };
    const headers = buildMarketingHeaders({ orgId: 1, site: { id: 2 }, source, config });
    const sent = mailing(
      { subject: "News", html: "<p>Hi {{ name }}</p>", marketing },
      { ...content, headers, replyTo: "help@example.com" },
    );
    const [mail] = await delivered({ ...sent, recipients: sent.recipients.slice(0, 1) });
    expect(mail!.replyTo).toBe("help@example.com");
    const found = Object.fromEntries(
      Object.entries(mail!.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    expect(found).toMatchObject({
      precedence: "bulk",
      "x-auto-response-suppress": "OOF, AutoReply",
    });
    const passesFeedbackId = ["mailgun", "sparkpost"].includes(provider.key);
    expect(found["feedback-id"]).toBe(
      passesFeedbackId ? "campaign-7:site-2:org-1:pennymail" : undefined,
    );
  });

  it("each recipient's own link in header and footer, in a batch and singly", async () => {
    const sent = mailing({ subject: "News", html: "<p>Hi {{ name }}</p>", marketing });
    const fits = provider.batch?.supports(sent) ?? false;
    expect(fits).toBe(!["ses", "mandrill"].includes(provider.key));
    const calls = fits
      ? [sent]
      : sent.recipients.map((recipient) => ({ ...sent, recipients: [recipient] }));
    const mails: DeliveredMail[] = [];
    for (const call of calls) mails.push(...(await delivered(call)));
    for (const [n, id] of [11, 12].entries()) {
      const { headers, html, text, sendId } = mails[n]!;
      const found = Object.entries(headers).filter(([name]) => /^list-unsubscribe/i.test(name));
      expect(Object.fromEntries(found.map(([name, value]) => [name.toLowerCase(), value]))).toEqual(
        {
          "list-unsubscribe": `<${base}?token=T${id}>`,
          "list-unsubscribe-post": "List-Unsubscribe=One-Click",
        },
      );
      expect(found).toHaveLength(2);
      expect([sendId, html, text]).toEqual([
        String(id),
        expect.stringContaining(`href="${base}/T${id}"`),
        expect.stringContaining(`Unsubscribe: ${base}/T${id}`),
      ]);
    }
  });
});
