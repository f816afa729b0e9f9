// What all ten mail providers promise (shared/providers/provider.ts), proven against a real HTTP server in their place.
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { provider as lookup, providers } from "../../shared/providers/index.ts";
import { providerKeys } from "../../shared/providers/keys.ts";
import { bccOf, filled, type Mailing, type Outcome, type Pieces, type Provider, type Recipient } from "../../shared/providers/provider.ts";
import { contractProviders } from "../support/contract-providers.ts";
import { type Behaviour, listen, type Outside } from "../support/wires/server.ts";
import type { Delivered, Wire } from "../support/wires/wire.ts";

const unsubscribe = (token: string) => ({
  "List-Unsubscribe": `<https://mail.example.com/api/v1/unsubscribe?token=${token}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
});

const recipient = (sendId: number, values: string[] = [], headers: Record<string, string> = unsubscribe(`t${sendId}`)): Recipient => ({
  sendId,
  to: { email: `person${sendId}@example.net`, name: `Ada "the ${sendId}th", Lovelace` },
  values,
  headers,
});

const mailing = (changes: Partial<Mailing> = {}): Mailing => ({
  from: { email: "news@mg.example.com", name: 'Zoë\'s "Shop", Söhne & Töchter – 東京 ✉' },
  replyTo: "help@example.com",
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

/** What every template engine among the ten, and some beyond, would jump at. */
const bait =
  "{{x}} {{{y}}} {{ address.name }} {{if a}} {{params.x}} {{var:name}} {% if %} %recipient.v0% %recipient% -x- -pm0.0- *|X|* *|V0|* <%x%> [[y]] #{z}";

function expected(provider: Provider, wire: Wire, sent: Mailing, to: Recipient): Delivered {
  return {
    from: sent.from,
    to: to.to,
    replyTo: sent.replyTo,
    bcc: bccOf(sent, to),
    subject: filled(sent.subject, to),
    html: sent.html && filled(sent.html, to),
    text: sent.text && filled(sent.text, to),
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

it("the ten are there, in the order of the contract, and found by their keys", () => {
  expect(providers.map(({ key }) => key)).toEqual(providerKeys);
  expect(providerKeys).toEqual(contractProviders);
  expect(providers.map(({ key }) => lookup(key))).toEqual(providers);
  expect(lookup("nobody")).toBeUndefined();
});

it("the usual campaign, with everyone's own unsubscribe link in a header, goes out in batches but where that cannot be", () => {
  const alone = providers.filter(({ batch }) => !batch?.takes(campaign())).map(({ key }) => key);
  expect(alone).toEqual(["ses", "mandrill"]);
  const aloneWithoutHeaders = providers.filter(({ batch }) => !batch?.takes(campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) })));
  expect(aloneWithoutHeaders.map(({ key }) => key)).toEqual(["ses"]);
  const copied = campaign({ bcc: "archive@example.com", recipients: trio([["a"], ["b"], ["c"]], {}) });
  expect(providers.filter(({ batch }) => !batch?.takes(copied)).map(({ key }) => key)).toEqual(["ses", "mailgun", "mandrill"]);
});

describe.each(providers)("$name", (provider) => {
  let outside: Outside;
  let wire: Wire;
  const setting = `PROVIDER_URL_${provider.key.toUpperCase()}`;

  beforeAll(async () => {
    wire = (await import(`../support/wires/${provider.key}.ts`))[provider.key];
    outside = await listen();
  });
  afterAll(() => outside.close());
  beforeEach(() => {
    process.env[setting] = outside.origin;
    outside.requests.length = 0;
  });

  const send = (sent: Mailing, behaviour: Behaviour, idempotencyKey = "chunk-1-call-2"): Promise<Outcome[]> => {
    outside.answer(behaviour);
    return provider.send({ mailing: sent, credentials: provider.credentials.parse(wire.credentials), idempotencyKey });
  };
  const one = async (behaviour: Behaviour): Promise<Outcome> => (await send(mailing(), behaviour))[0]!;

  /** Sends, and demands that one call was made in which every recipient gets the whole of theirs. */
  async function arrives(sent: Mailing): Promise<void> {
    outside.requests.length = 0;
    const outcomes = await send(sent, wire.success(sent.recipients.length));
    expect(outcomes.map(({ status }) => status)).toEqual(sent.recipients.map(() => "accepted"));
    expect(outside.requests).toHaveLength(1);
    const mails = await wire.delivered(outside.requests[0]!);
    expect(mails.map((mail) => ({ ...mail, headers: named(mail.headers) }))).toEqual(
      sent.recipients.map((to) => expected(provider, wire, sent, to)),
    );
  }
  const takes = (sent: Mailing): boolean => provider.batch?.takes(sent) ?? false;
  const whole = (outcomes: Outcome[]) => expect(outcomes).toEqual(outcomes.map(() => outcomes[0]));

  describe("what arrives", () => {
    it("a single mail arrives whole, at the provider's own path", async () => {
      await arrives(mailing());
      expect(outside.requests[0]).toMatchObject({ method: "POST", path: wire.path });
    });

    it("attachments arrive byte for byte", async () => {
      const bytes = Buffer.from(Array.from({ length: 512 }, (_, n) => n % 256));
      const attachments = [
        { filename: "invoice 7.pdf", type: "application/pdf", content: bytes.toString("base64") },
        { filename: "a.txt", type: "text/plain", content: Buffer.from("hello\n").toString("base64") },
      ];
      await arrives(mailing({ attachments }));
      const batch = campaign({ attachments });
      if (takes(batch)) await arrives(batch);
    });

    it.each([
      { trackOpens: true, trackClicks: false },
      { trackOpens: false, trackClicks: true },
    ])("the switches $trackOpens/$trackClicks for opens and clicks arrive where the provider has them", async (switches) => {
      await arrives(mailing(switches));
    });

    it("a recipient without a name, and a mail of the least one can say, arrive", async () => {
      const bare = { ...recipient(7, [], {}), to: { email: "bare@example.net" } };
      await arrives(mailing({ from: { email: "a@mg.example.com" }, replyTo: undefined, headers: {}, tags: [], recipients: [bare] }));
    });

    it("a mail of text alone arrives with that text", async () => {
      await send(mailing({ html: undefined }), wire.success(1));
      expect((await wire.delivered(outside.requests[0]!))[0]!.text).toBe(filled(mailing().text!, recipient(1)));
    });

    it("a mail of HTML alone arrives, without an invented text", async () => {
      await arrives(mailing({ text: undefined }));
    });

    it("a single mail has its holes filled", async () => {
      await arrives(campaign({ recipients: campaign().recipients.slice(0, 1) }));
    });

    it("a blind copy goes beside the mail, but not to whom gets the mail itself", async () => {
      await arrives(mailing({ bcc: "archive@example.com" }));
      expect((await wire.delivered(outside.requests[0]!))[0]!.bcc).toBe("archive@example.com");
      await arrives(mailing({ bcc: "Person12345@Example.net" }));
      expect((await wire.delivered(outside.requests[0]!))[0]!.bcc).toBeUndefined();
    });

    it("the recipient's own header holds where the mailing names one too", async () => {
      await arrives(mailing({ headers: { "list-unsubscribe": "<mailto:all@example.com>" } }));
    });

    it("what looks like a template comes through untouched, in a text or in a value", async () => {
      const baits: Partial<Mailing> = {
        subject: ["Subject ", bait],
        html: ["<p>", 0, bait, "</p>"],
        text: [bait, 0],
        headers: { "X-Bait": bait },
      };
      await arrives(mailing({ ...baits, recipients: [recipient(1, [`value ${bait}`], { "X-Own": bait })] }));
      const batches = [
        campaign({ html: ["<p>", bait, 0, "</p>"] }),
        campaign({ headers: { "X-Bait": bait } }),
        campaign({ recipients: trio([[`value ${bait}`], ["b"], ["c"]]) }),
      ];
      for (const batch of batches.filter(takes)) await arrives(batch);
    });
  });

  if (provider.batch)
    describe("the batch form", () => {
      it.each([
        ["with headers of their own", campaign()],
        ["with the same headers", campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) })],
        ["with the mailing overruled", campaign({ headers: { "list-unsubscribe": "<mailto:all@example.com>" } })],
        ["with a blind copy of each", campaign({ bcc: "archive@example.com" })],
        ["of whom one gets all the copies", campaign({ bcc: campaign().recipients[1]!.to.email.toUpperCase() })],
        ["without a name", campaign({ recipients: campaign().recipients.map((to) => ({ ...to, to: { email: to.to.email } })) })],
        [
          "with unlike headers",
          campaign({ recipients: [...trio([["a"]], { "X-A": "a" }), ...trio([["b"], ["c"]], { "X-B": "b" }).slice(1)] }),
        ],
        [
          "of whom two are one",
          campaign({ recipients: campaign().recipients.map((to) => ({ ...to, to: { email: "same@example.net" } })) }),
        ],
      ])("where taken, gives recipients %s exactly what a single mail would", async (_, batch) => {
        if (takes(batch)) await arrives(batch);
        else for (const to of batch.recipients) await arrives({ ...batch, recipients: [to] });
      });

      it("where taken, survives any text and any values", async () => {
        const fragment = fc.constantFrom(
          ..."a|{|{{|{{{v0}}}|}|}}|-|pm0|-pm0.0|-pm0.1-|%|%recip|recipient.v0%|*|V0|$&|<b>|&amp;|\\|'|\"|\n|https://|http://e.co/|ü|params.v0".split(
            "|",
          ),
          "*|",
          "|*",
          "*|V0|*",
        );
        const phrase = fc.array(fragment, { maxLength: 4 }).map((parts) => parts.join(""));
        const pieces: fc.Arbitrary<Pieces> = fc.array(fc.oneof(phrase, fc.nat(1)), { maxLength: 6 }).map((rest) => ["<p>", ...rest]);
        const values = fc.array(fc.array(phrase, { minLength: 2, maxLength: 2 }), { minLength: 2, maxLength: 3 });
        let taken = 0;
        await fc.assert(
          fc.asyncProperty(pieces, pieces, values, async (html, text, valueLists) => {
            const batch = campaign({ subject: ["s ", 0], html, text, recipients: trio(valueLists, {}) });
            if (!takes(batch)) return;
            taken++;
            await arrives(batch);
          }),
          { numRuns: 60 },
        );
        expect(taken).toBeGreaterThan(0);
      });

      it("tells outcomes and message ids in the order of the recipients", async () => {
        const batch = campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) });
        expect(await send(batch, wire.success(3))).toEqual(
          batch.recipients.map((_, n) => ({ status: "accepted", messageId: wire.messageId(n, 3) })),
        );
      });

      it("blames one refused mail alone, where the provider says which", async () => {
        const words = "This one is inactive";
        const reply = wire.partial?.(words);
        if (!reply) return;
        const outcomes = await send(campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) }), reply);
        expect(outcomes.map(({ status }) => status)).toEqual(["accepted", "refused", "accepted"]);
        expect(outcomes[1]).toMatchObject({ error: expect.stringContaining(words) });
        expect([0, 2].map((n) => outcomes[n])).toEqual([0, 2].map((n) => ({ status: "accepted", messageId: wire.messageId(n, 3) })));
      });

      it("refused as a whole, is to be asked again for each alone", async () => {
        const outcomes = await send(campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) }), wire.refusal("Somebody is invalid"));
        expect(outcomes).toHaveLength(3);
        whole(outcomes);
        expect(outcomes[0]).toMatchObject({ status: "held", why: "batch", error: expect.stringContaining("Somebody is invalid") });
      });

      it.each([{ status: 503 }, { status: 429 }, { status: 401 }])("a plain $status means everyone", async (reply) => {
        const outcomes = await send(campaign(), reply);
        expect(outcomes).toHaveLength(3);
        whole(outcomes);
      });
    });

  describe("what it answers", () => {
    it("a mail that was taken has the provider's id", async () => {
      expect(await one(wire.success(1))).toEqual({ status: "accepted", messageId: wire.messageId(0, 1) });
    });

    it("a refusal is told in the provider's words", async () => {
      expect(await one(wire.refusal("Attachment type is forbidden"))).toEqual({
        status: "refused",
        error: expect.stringContaining("Attachment type is forbidden"),
      });
    });

    it("a fault of the account is known as one", async () => {
      for (const reply of [{ status: 401 }, ...wire.config]) {
        expect(await one(reply), JSON.stringify(reply)).toMatchObject({
          status: "refused",
          config: true,
          error: expect.stringMatching(/./),
        });
      }
    });

    it("a call to slow down is held, for as long as it asks", async () => {
      expect(await one({ status: 429, headers: { "retry-after": "7" } })).toMatchObject({
        status: "held",
        why: "pace",
        retryAfterSeconds: 7,
      });
      const date = new Date(Date.now() + 60_000).toUTCString();
      const { retryAfterSeconds } = (await one({ status: 429, headers: { "retry-after": date } })) as { retryAfterSeconds: number };
      expect(retryAfterSeconds).toBeGreaterThan(50);
      expect(retryAfterSeconds).toBeLessThan(62);
      for (const { reply, seconds } of wire.pace) {
        const outcome = await one(reply);
        expect(outcome, JSON.stringify(reply)).toMatchObject({ status: "held", why: "pace" });
        if (seconds !== undefined) expect(outcome).toMatchObject({ retryAfterSeconds: seconds });
      }
    });

    it("trouble at the provider's is held", async () => {
      for (const reply of [{ status: 503 }, ...wire.fault]) {
        expect(await one(reply), JSON.stringify(reply)).toMatchObject({ status: "held", why: "fault" });
      }
      expect(await one({ status: 503, headers: { "retry-after": "30" } })).toMatchObject({ status: "held", retryAfterSeconds: 30 });
    });

    const unclear = provider.idempotencySeconds > 0 ? { status: "held", why: "fault" } : { status: "uncertain" };

    it.each([502, 504])("a gateway's %i does not tell whether the mail was taken", async (status) => {
      const outcome = await one({ status, body: "<html><title>Bad gateway</title></html>" });
      expect(outcome).toMatchObject({ ...unclear, error: expect.not.stringContaining("<") });
    });

    it("a good status with a broken answer is no refusal", async () => {
      const { status } = await one({ status: 200, body: '{"half":' });
      expect(["accepted", unclear.status]).toContain(status);
      if (provider.batch) expect(await send(campaign(), { status: 299, body: "??" })).toHaveLength(3);
    });

    it("a connection lost after the request does not tell whether the mail was taken", async () => {
      const sent = campaign({ recipients: campaign().recipients.slice(0, provider.batch ? 3 : 1) });
      expect(await send(sent, "reset")).toEqual(sent.recipients.map(() => expect.objectContaining(unclear)));
      expect(outside.requests).toHaveLength(1);
    });

    if (provider.idempotencySeconds === 0)
      it("no mail goes out over a kept connection, which may have died meanwhile", async () => {
        for (let n = 0; n < 3; n++) {
          await send(mailing(), wire.success(1));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        expect(new Set(outside.requests.map(({ port }) => port)).size).toBe(3);
      });

    it("a refused connection is safe to try again", async () => {
      const nobody = await listen();
      await nobody.close();
      process.env[setting] = nobody.origin;
      expect(await one({ status: 200 })).toMatchObject({ status: "held", why: "fault" });
    });

    it("an error is one short line without a secret in it", async () => {
      const words = `No, \u0000${wire.secrets.join(" nor\r\n ")}! ${"long ".repeat(200)}`;
      const replies = [wire.refusal(words), { status: 400, body: words }, { status: 401, body: words }, { status: 503, body: words }];
      for (const reply of [...replies, ...(wire.partial ? [wire.partial(words)] : [])]) {
        const outcomes = provider.batch ? await send(campaign({ recipients: trio([["a"], ["b"], ["c"]], {}) }), reply) : [];
        for (const { error } of [...outcomes, await one(reply)].filter((outcome) => outcome.status !== "accepted")) {
          expect(error).toMatch(/^[^\p{Cc}]{1,300}$/u);
          for (const secret of wire.secrets) expect(error).not.toContain(secret);
        }
      }
    });
  });

  describe("its limits", () => {
    it("attachments beyond its limit are refused without asking it", async () => {
      const content = Buffer.alloc(provider.maxAttachmentBytes + 1).toString("base64");
      const [outcome] = await send(mailing({ attachments: [{ filename: "a.txt", type: "text/plain", content }] }), wire.success(1));
      expect(outcome).toEqual({ status: "refused", error: expect.stringContaining(provider.maxAttachmentBytes.toLocaleString("en-US")) });
      expect(outside.requests).toEqual([]);
    });

    it("more recipients than it takes are a bug of ours, and never reach it", async () => {
      const recipients = Array.from({ length: (provider.batch?.max ?? 1) + 1 }, (_, n) => recipient(n + 1));
      await expect(send(mailing({ recipients }), wire.success(recipients.length))).rejects.toThrow(/recipients/);
      expect(outside.requests).toEqual([]);
    });

    it("every credential is described and bounded, and cannot break out of a header", () => {
      expect(provider.credentials.safeParse({}).success).toBe(false);
      for (const [field, schema] of Object.entries(provider.credentials.shape)) {
        expect(schema.description, field).toMatch(/\w{3}/);
        for (const value of ["a".repeat(5000), "a\nb: c", "a b", "ä", ""]) {
          expect(provider.credentials.safeParse({ ...wire.credentials, [field]: value }).success, `${field}: ${value}`).toBe(false);
        }
      }
    });

    if (provider.idempotencySeconds > 0)
      it("attempts under one key are the same to the byte, under another they are not", async () => {
        const key = "a-key-like-no-other-0001";
        await send(mailing(), wire.success(1), key);
        await send(mailing(), wire.success(1), key);
        await send(mailing(), wire.success(1), "another-key");
        const [first, second, other] = outside.requests.map(({ headers, body }) => JSON.stringify(headers) + body.toString());
        expect(second).toBe(first);
        expect(other).not.toBe(first);
      });
  });
});
