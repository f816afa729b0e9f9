// The contract of the ten provider adapters with an API (shared/providers/provider-adapter.ts), tested against
// an HTTP server in place of the provider.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as clock from "../../shared/clock.ts";
import {
  addresseesOf,
  fillMergeText,
  type HandOverOutcome,
  type Mailing,
  type MergeText,
  type ProviderAdapter,
  type Recipient,
} from "../../shared/providers/provider-adapter.ts";
import { webhookProviderKeys } from "../../shared/providers/provider-keys.ts";
import { getProvider as lookup } from "../../shared/providers/registry.ts";
import { apiProviders } from "../support/api-providers.ts";
import fc from "../support/fast-check.ts";
import type { DeliveredMail, ProviderApi } from "../support/provider-apis/provider-api.ts";
import {
  type RecordingServer,
  type ServerBehaviour,
  startRecordingServer,
} from "../support/provider-apis/recording-server.ts";
import { providerKeysInOrder } from "../support/provider-keys.ts";

const unsubscribe = (token: string) => ({
  "List-Unsubscribe": `<https://mail.example.com/api/v1/unsubscribe?token=${token}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
});

const recipient = (
  sendId: number,
  values: string[] = [],
  headers: Record<string, string> = unsubscribe(`t${sendId}`),
): Recipient => ({
  sendId,
  to: { email: `person${sendId}@example.net`, name: `Ada "the ${sendId}th", Lovelace` },
  values,
  headers,
});

const mailing = (changes: Partial<Mailing> = {}): Mailing => ({
  from: { email: "news@mg.example.com", name: 'Zoë\'s "Shop", Söhne & 東京 ✉' },
  replyTo: ["help@example.com"],
  subject: ["Grüße, 東京 & <you>"],
  html: ['<p class="a">Hi & bye\n<a href="https://example.com/?a=1&amp;b=2">ü</a></p>\n'],
  text: ["Hi & bye\nhttps://example.com/?a=1&b=2 ü\n"],
  headers: { "X-Campaign": "seven & more" },
  tags: ["campaign-7", "spring"],
  attachments: [],
  recipients: [recipient(12345)],
  ...changes,
});

const trio = (values: string[][], headers?: Record<string, string>): Recipient[] =>
  values.map((own, n) => recipient(9_007_199_254_740_000 + n, own, headers));

const campaign = (changes: Partial<Mailing> = {}): Mailing =>
  mailing({
    subject: ["For ", 0, ": a & b"],
    html: ["<p>Dear ", 0, ",</p><a href='", 1, "'>", 2, 0, "</a>"],
    text: [0, "\n", 1],
    recipients: trio([
      ["Ada <b>&amp;</b> $& \\1", "https://example.com/a?x=1&y=ü", ""],
      ['Grace "Amazing" Hopper, 東京', "https://example.com/b", "two\nlines"],
      ["'Eve'", "http://example.com/c", "100 %"],
    ]),
    ...changes,
  });

/** Text that the template engine of one of the providers, or of another, would evaluate. */
const templateSyntax =
  "{{x}} {{{y}}} {{ address.name }} {{if a}} {{params.x}} {{var:name}} {% if %} %recipient.v0% %recipient% -x- -pm0.0- *|X|* *|V0|* <%x%> [[y]] #{z}";

function expected(
  provider: ProviderAdapter,
  wire: ProviderApi,
  sent: Mailing,
  to: Recipient,
): DeliveredMail {
  return {
    from: sent.from,
    to: to.to,
    replyTo: sent.replyTo?.join(", "),
    bcc: addresseesOf(sent, to).bcc[0]?.email,
    subject: fillMergeText(sent.subject, to),
    html: sent.html && fillMergeText(sent.html, to),
    text: sent.text && fillMergeText(sent.text, to),
    headers: named({ ...sent.headers, ...to.headers }),
    tags: sent.tags.slice(0, wire.maxTags),
    sendId: String(to.sendId),
    attachments: sent.attachments,
    trackOpens: provider.tracking.opens ? sent.trackOpens : undefined,
    trackClicks: provider.tracking.clicks ? sent.trackClicks : undefined,
  };
}

const named = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

it("the ten providers are in the order of the contract and found by key", () => {
  expect(apiProviders.map(({ key }) => key)).toEqual(webhookProviderKeys);
  expect(webhookProviderKeys).toEqual(providerKeysInOrder);
  expect(apiProviders.map(({ key }) => lookup(key))).toEqual(apiProviders);
  expect(lookup("nobody")).toBeUndefined();
});

it("a campaign with unsubscribe headers is sent in batches wherever the provider can", () => {
  const alone = apiProviders
    .filter(({ batch }) => !batch?.supports(campaign()))
    .map(({ key }) => key);
  expect(alone).toEqual(["ses", "mandrill"]);
  const aloneWithoutHeaders = apiProviders.filter(
    ({ batch }) => !batch?.supports(campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) })),
  );
  expect(aloneWithoutHeaders.map(({ key }) => key)).toEqual(["ses"]);
  const copied = campaign({
    bcc: "archive@example.com",
    recipients: trio([["a"], ["b"], ["c"]], {}),
  });
  expect(
    apiProviders.filter(({ batch }) => !batch?.supports(copied)).map(({ key }) => key),
  ).toEqual(["ses", "mailgun", "mandrill"]);
});

describe.each(apiProviders)("$name", (provider) => {
  let outside: RecordingServer;
  let wire: ProviderApi;
  const setting = `PROVIDER_URL_${provider.key.toUpperCase()}`;

  beforeAll(async () => {
    wire = (await import(`../support/provider-apis/${provider.key}.ts`))[provider.key];
    outside = await startRecordingServer();
  });
  afterAll(() => outside.close());
  beforeEach(() => {
    process.env[setting] = outside.origin;
    outside.requests.length = 0;
  });

  const send = (
    sent: Mailing,
    behaviour: ServerBehaviour,
    idempotencyKey = "chunk-1-call-2",
  ): Promise<HandOverOutcome[]> => {
    outside.setReply(behaviour);
    return provider.send({
      mailing: sent,
      credentials: provider.credentials.parse(wire.credentials),
      idempotencyKey,
    });
  };
  const one = async (behaviour: ServerBehaviour): Promise<HandOverOutcome> =>
    (await send(mailing(), behaviour))[0]!;

  /**
   * Sends the mailing and checks that one call was made, in which every recipient gets their mail.
   */
  async function expectArrival(sent: Mailing): Promise<void> {
    outside.requests.length = 0;
    const outcomes = await send(sent, wire.success(sent.recipients.length));
    expect(outcomes.map(({ status }) => status)).toEqual(sent.recipients.map(() => "accepted"));
    expect(outside.requests).toHaveLength(1);
    const mails = await wire.readMails(outside.requests[0]!);
    expect(mails.map((mail) => ({ ...mail, headers: named(mail.headers) }))).toEqual(
      sent.recipients.map((to) => expected(provider, wire, sent, to)),
    );
  }
  const supportsBatch = (sent: Mailing): boolean => provider.batch?.supports(sent) ?? false;
  const expectSameOutcome = (outcomes: HandOverOutcome[]) =>
    expect(outcomes).toEqual(outcomes.map(() => outcomes[0]));

  describe("content", () => {
    it("a single mail arrives completely, at the provider's path", async () => {
      await expectArrival(mailing());
      expect(outside.requests[0]).toMatchObject({ method: "POST", path: wire.path });
    });

    it("attachments arrive byte for byte", async () => {
      const bytes = Buffer.from(Array.from({ length: 512 }, (_, n) => n % 256));
      const attachments = [
        { filename: "invoice 7.pdf", type: "application/pdf", content: bytes.toString("base64") },
        {
          filename: "a.txt",
          type: "text/plain",
          content: Buffer.from("hello\n").toString("base64"),
        },
      ];
      await expectArrival(mailing({ attachments }));
      const batch = campaign({ attachments });
      if (supportsBatch(batch)) await expectArrival(batch);
    });

    it.each([
      { trackOpens: true, trackClicks: false },
      { trackOpens: false, trackClicks: true },
    ])(
      "the settings $trackOpens/$trackClicks of open and click tracking arrive if supported",
      async (switches) => {
        await expectArrival(mailing(switches));
      },
    );

    it("a recipient without a name and a minimal mail arrive", async () => {
      const bare = { ...recipient(7, [], {}), to: { email: "bare@example.net" } };
      await expectArrival(
        mailing({
          from: { email: "a@mg.example.com" },
          replyTo: undefined,
          headers: {},
          tags: [],
          recipients: [bare],
        }),
      );
    });

    it("a mail with only text arrives", async () => {
      await send(mailing({ html: undefined }), wire.success(1));
      expect((await wire.readMails(outside.requests[0]!))[0]!.text).toBe(
        fillMergeText(mailing().text!, recipient(1)),
      );
    });

    it("a mail with only HTML arrives without a text part", async () => {
      await expectArrival(mailing({ text: undefined }));
    });

    it("a single mail has its merge fields filled", async () => {
      await expectArrival(campaign({ recipients: campaign().recipients.slice(0, 1) }));
    });

    it("a blind copy is sent unless its address is the recipient", async () => {
      await expectArrival(mailing({ bcc: "archive@example.com" }));
      expect((await wire.readMails(outside.requests[0]!))[0]!.bcc).toBe("archive@example.com");
      await expectArrival(mailing({ bcc: "Person12345@Example.net" }));
      expect((await wire.readMails(outside.requests[0]!))[0]!.bcc).toBeUndefined();
    });

    it("the recipient's header overrides that of the mailing", async () => {
      await expectArrival(mailing({ headers: { "list-unsubscribe": "<mailto:all@example.com>" } }));
    });

    it("template syntax in texts and values arrives unchanged", async () => {
      const baits: Partial<Mailing> = {
        subject: ["Subject ", templateSyntax],
        html: ["<p>", 0, templateSyntax, "</p>"],
        text: [templateSyntax, 0],
        headers: { "X-Bait": templateSyntax },
      };
      await expectArrival(
        mailing({
          ...baits,
          recipients: [recipient(1, [`value ${templateSyntax}`], { "X-Own": templateSyntax })],
        }),
      );
      const batches = [
        campaign({ html: ["<p>", templateSyntax, 0, "</p>"] }),
        campaign({ headers: { "X-Bait": templateSyntax } }),
        campaign({ recipients: trio([[`value ${templateSyntax}`], ["b"], ["c"]]) }),
      ];
      for (const batch of batches.filter(supportsBatch)) await expectArrival(batch);
    });
  });

  if (provider.batch)
    describe("batches", () => {
      it.each([
        ["with headers of their own", campaign()],
        ["with the same headers", campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) })],
        [
          "with headers that override those of the mailing",
          campaign({ headers: { "list-unsubscribe": "<mailto:all@example.com>" } }),
        ],
        ["with a blind copy of each", campaign({ bcc: "archive@example.com" })],
        [
          "one of whom also gets all blind copies",
          campaign({ bcc: campaign().recipients[1]!.to.email.toUpperCase() }),
        ],
        [
          "without a name",
          campaign({
            recipients: campaign().recipients.map((to) => ({ ...to, to: { email: to.to.email } })),
          }),
        ],
        [
          "with different headers",
          campaign({
            recipients: [
              ...trio([["a"]], { "X-A": "a" }),
              ...trio([["b"], ["c"]], { "X-B": "b" }).slice(1),
            ],
          }),
        ],
        [
          "with one address",
          campaign({
            recipients: campaign().recipients.map((to) => ({
              ...to,
              to: { email: "same@example.net" },
            })),
          }),
        ],
      ])("give recipients %s the same mail as a single send", async (_, batch) => {
        if (supportsBatch(batch)) await expectArrival(batch);
        else for (const to of batch.recipients) await expectArrival({ ...batch, recipients: [to] });
      });

      it("keep any text and any values", async () => {
        const fragment = fc.constantFrom(
          ..."a|{|{{|{{{v0}}}|}|}}|-|pm0|-pm0.0|-pm0.1-|%|%recip|recipient.v0%|*|V0|$&|<b>|&amp;|\\|'|\"|\n|https://|http://e.co/|ü|params.v0".split(
            "|",
          ),
          "*|",
          "|*",
          "*|V0|*",
        );
        const phrase = fc.array(fragment, { maxLength: 4 }).map((parts) => parts.join(""));
        const pieces: fc.Arbitrary<MergeText> = fc
          .array(fc.oneof(phrase, fc.nat(1)), { maxLength: 6 })
          .map((rest) => ["<p>", ...rest]);
        const values = fc.array(fc.array(phrase, { minLength: 2, maxLength: 2 }), {
          minLength: 2,
          maxLength: 3,
        });
        let sentBatches = 0;
        await fc.assert(
          fc.asyncProperty(pieces, pieces, values, async (html, text, valueLists) => {
            const batch = campaign({
              subject: ["s ", 0],
              html,
              text,
              recipients: trio(valueLists, {}),
            });
            if (!supportsBatch(batch)) return;
            sentBatches++;
            await expectArrival(batch);
          }),
          { numRuns: 60 },
        );
        expect(sentBatches).toBeGreaterThan(0);
      });

      it("return outcomes and message ids in the order of the recipients", async () => {
        const batch = campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) });
        expect(await send(batch, wire.success(3))).toEqual(
          batch.recipients.map((_, n) => ({ status: "accepted", messageId: wire.messageId(n, 3) })),
        );
      });

      it("refuse one mail alone if the provider names it", async () => {
        const message = "This one is inactive";
        const reply = wire.partialRefusal?.(message);
        if (!reply) return;
        const outcomes = await send(
          campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) }),
          reply,
        );
        expect(outcomes.map(({ status }) => status)).toEqual(["accepted", "refused", "accepted"]);
        expect(outcomes[1]).toMatchObject({ error: expect.stringContaining(message) });
        expect([0, 2].map((n) => outcomes[n])).toEqual(
          [0, 2].map((n) => ({ status: "accepted", messageId: wire.messageId(n, 3) })),
        );
      });

      it("are sent singly after they were refused as a whole", async () => {
        const outcomes = await send(
          campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) }),
          wire.invalidMailReply("Somebody is invalid"),
        );
        expect(outcomes).toHaveLength(3);
        expectSameOutcome(outcomes);
        expect(outcomes[0]).toMatchObject({
          status: "held",
          why: "batch",
          error: expect.stringContaining("Somebody is invalid"),
        });
      });

      it.each([{ status: 503 }, { status: 429 }, { status: 401 }])(
        "have one outcome for all mails after a response with only the status $status",
        async (reply) => {
          const outcomes = await send(campaign(), reply);
          expect(outcomes).toHaveLength(3);
          expectSameOutcome(outcomes);
        },
      );
    });

  describe("responses", () => {
    it("an accepted mail has the provider's id", async () => {
      expect(await one(wire.success(1))).toEqual({
        status: "accepted",
        messageId: wire.messageId(0, 1),
      });
    });

    it("a refusal has the provider's error", async () => {
      expect(await one(wire.invalidMailReply("Attachment type is forbidden"))).toEqual({
        status: "refused",
        error: expect.stringContaining("Attachment type is forbidden"),
      });
    });

    it("a fault of the account is reported as one", async () => {
      for (const reply of [{ status: 401 }, ...wire.accountErrors]) {
        expect(await one(reply), JSON.stringify(reply)).toMatchObject({
          status: "refused",
          config: true,
          error: expect.stringMatching(/./),
        });
      }
    });

    it("a throttled call is retried after the time that the provider asks for", async () => {
      expect(await one({ status: 429, headers: { "retry-after": "7" } })).toMatchObject({
        status: "held",
        why: "pace",
        retryAfterSeconds: 7,
      });
      const date = new Date(Date.now() + 60_000).toUTCString();
      const { retryAfterSeconds } = (await one({
        status: 429,
        headers: { "retry-after": date },
      })) as { retryAfterSeconds: number };
      expect(retryAfterSeconds).toBeGreaterThan(50);
      expect(retryAfterSeconds).toBeLessThan(62);
      for (const { reply, seconds } of wire.rateLimits) {
        const outcome = await one(reply);
        expect(outcome, JSON.stringify(reply)).toMatchObject({ status: "held", why: "pace" });
        if (seconds !== undefined) expect(outcome).toMatchObject({ retryAfterSeconds: seconds });
      }
    });

    it("an accepted call that used up the rate limit has the time until its reset", async () => {
      const pauseAfter = async (headers: Record<string, string>) => {
        const success = wire.success(1);
        const outcome = await one({ ...success, headers: { ...success.headers, ...headers } });
        expect(outcome.status).toBe("accepted");
        return (outcome as { pauseSeconds?: number }).pauseSeconds;
      };
      for (const prefix of ["x-ratelimit-", "x-sib-ratelimit-", "ratelimit-"]) {
        const usedUp = { [`${prefix}remaining`]: "0", [`${prefix}reset`]: "4" };
        expect(await pauseAfter(usedUp)).toBe(4);
        expect(await pauseAfter({ ...usedUp, [`${prefix}remaining`]: "1" })).toBeUndefined();
        const past = { ...usedUp, [`${prefix}reset`]: "1700000000" };
        expect(await pauseAfter(past)).toBeUndefined();
      }
    });

    it("an outage of the provider is retried", async () => {
      for (const reply of wire.outages) {
        expect(await one(reply), JSON.stringify(reply)).toMatchObject({
          status: "held",
          why: "fault",
        });
      }
      expect(await one({ status: 503, headers: { "retry-after": "30" } })).toMatchObject({
        status: "held",
        retryAfterSeconds: 30,
      });
    });

    const unclear =
      provider.idempotencySeconds > 0
        ? { status: "held", why: "fault", heard: true }
        : { status: "uncertain" };

    it.each([200, 302, 408, 500, 502, 503, 504])(
      "a %i with a web page leaves open whether the mail was accepted",
      async (status) => {
        const outcome = await one({ status, body: "<html><title>Bad gateway</title></html>" });
        expect(outcome).toMatchObject({ ...unclear, error: expect.not.stringContaining("<") });
      },
    );

    it("the provider's errors during processing leave the mail uncertain", async () => {
      for (const reply of wire.doubtful)
        expect(await one(reply), JSON.stringify(reply)).toMatchObject(unclear);
    });

    it("a 200 response with an invalid body is not a refusal", async () => {
      const { status } = await one({ status: 200, body: '{"half":' });
      expect(["accepted", unclear.status]).toContain(status);
      if (provider.batch)
        expect(await send(campaign(), { status: 299, body: "??" })).toHaveLength(3);
    });

    it("a connection lost after the request leaves the mail uncertain", async () => {
      const sent = campaign({ recipients: campaign().recipients.slice(0, provider.batch ? 3 : 1) });
      expect(await send(sent, "reset")).toEqual(
        sent.recipients.map(() => expect.objectContaining(unclear)),
      );
      expect(outside.requests).toHaveLength(1);
    });

    if (provider.idempotencySeconds === 0)
      it("no mail is sent over a connection that was idle for more than a second", async () => {
        const now = vi.spyOn(clock, "now");
        const start = clock.now().getTime();
        for (const seconds of [0, 0.9, 2]) {
          now.mockReturnValue(new Date(start + seconds * 1000));
          await send(mailing(), wire.success(1));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        now.mockRestore();
        const [first, second, third] = outside.requests.map(({ port }) => port);
        expect(second).toBe(first);
        expect(third).not.toBe(first);
      });

    it("a refused connection is safe to retry", async () => {
      const closedServer = await startRecordingServer();
      await closedServer.close();
      process.env[setting] = closedServer.origin;
      expect(await one({ status: 200 })).toMatchObject({ status: "held", why: "fault" });
    });

    it("an error is one short line without secrets", async () => {
      const message = `No, \u0000${wire.secrets.join(" nor\r\n ")}! ${"long ".repeat(200)}`;
      const replies = [
        wire.invalidMailReply(message),
        { status: 400, body: message },
        { status: 401, body: message },
        { status: 503, body: message },
      ];
      for (const reply of [
        ...replies,
        ...(wire.partialRefusal ? [wire.partialRefusal(message)] : []),
      ]) {
        const outcomes = provider.batch
          ? await send(campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) }), reply)
          : [];
        for (const { error } of [...outcomes, await one(reply)].filter(
          (outcome) => outcome.status !== "accepted",
        )) {
          expect(error).toMatch(/^[^\p{Cc}]{1,300}$/u);
          for (const secret of wire.secrets) expect(error).not.toContain(secret);
        }
      }
    });
  });

  describe("limits", () => {
    it("attachments beyond the limit are refused without a call", async () => {
      const content = Buffer.alloc(provider.maxAttachmentBytes + 1).toString("base64");
      const [outcome] = await send(
        mailing({ attachments: [{ filename: "a.txt", type: "text/plain", content }] }),
        wire.success(1),
      );
      expect(outcome).toEqual({
        status: "refused",
        error: expect.stringContaining(provider.maxAttachmentBytes.toLocaleString("en-US")),
      });
      expect(outside.requests).toEqual([]);
    });

    it("more recipients than the limit throw and never reach the provider", async () => {
      const recipients = Array.from({ length: (provider.batch?.max ?? 1) + 1 }, (_, n) =>
        recipient(n + 1),
      );
      await expect(send(mailing({ recipients }), wire.success(recipients.length))).rejects.toThrow(
        /recipients/,
      );
      expect(outside.requests).toEqual([]);
    });

    it("each credential has a description and a limit, and cannot inject headers", () => {
      expect(provider.credentials.safeParse({}).success).toBe(false);
      for (const [field, schema] of Object.entries(provider.credentials.shape)) {
        expect(schema.description, field).toMatch(/\w{3}/);
        for (const value of ["a".repeat(5000), "a\nb: c", "a b", "ä", ""]) {
          expect(
            provider.credentials.safeParse({ ...wire.credentials, [field]: value }).success,
            `${field}: ${value}`,
          ).toBe(false);
        }
      }
    });

    if (provider.idempotencySeconds > 0)
      it("attempts with one idempotency key are identical; with another they differ", async () => {
        const key = "a-key-like-no-other-0001";
        await send(mailing(), wire.success(1), key);
        await send(mailing(), wire.success(1), key);
        await send(mailing(), wire.success(1), "another-key");
        const [first, second, other] = outside.requests.map(
          ({ headers, body }) => JSON.stringify(headers) + body.toString(),
        );
        expect(second).toBe(first);
        expect(other).not.toBe(first);
      });
  });
});
