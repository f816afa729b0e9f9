import { expect } from "vitest";
import { type Delivered, json, mailboxOf, type Wire } from "./wire.ts";

const id = "20260326120000.1.ABCDEF@mg.example.com";
const state = (value: ReturnType<FormData["get"]>) => (value === null ? undefined : value === "yes");

export const mailgun: Wire = {
  credentials: { apiKey: "example-mailgun-key", domain: "mg.example.com", region: "eu" },
  secrets: ["example-mailgun-key", Buffer.from("api:example-mailgun-key").toString("base64")],
  path: "/v3/mg.example.com/messages",
  maxTags: 3,
  async delivered({ headers, body }) {
    expect(headers.authorization).toBe(`Basic ${Buffer.from("api:example-mailgun-key").toString("base64")}`);
    const form = await new Response(new Uint8Array(body), { headers: { "content-type": headers["content-type"]! } }).formData();
    const variables: Record<string, Record<string, string>> | undefined =
      JSON.parse(String(form.get("recipient-variables") ?? "null")) ?? undefined;
    const tos = form.getAll("to").map(String);
    // Without variables every recipient would see all the others.
    if (tos.length > 1) expect(Object.keys(variables ?? {})).toHaveLength(tos.length);
    const attachments = await Promise.all(
      form.getAll("attachment").map(async (entry) => {
        const file = entry as File;
        return { filename: file.name, type: file.type, content: Buffer.from(await file.arrayBuffer()).toString("base64") };
      }),
    );
    return tos.map((to): Delivered => {
      const own = variables?.[mailboxOf(to).email];
      const get = (name: string) => {
        const value = form.get(name);
        // A form's line breaks are CRLF, as they are in a mail.
        const text = value === null ? undefined : String(value).replaceAll("\r\n", "\n");
        return own ? text?.replace(/%recipient\.(\w+)%/giu, (_, key: string) => own[key] ?? "") : text;
      };
      const names = [...form.keys()].filter((name) => name.startsWith("h:") && name !== "h:Reply-To");
      return {
        from: mailboxOf(get("from")!),
        to: mailboxOf(to),
        replyTo: get("h:Reply-To"),
        bcc: get("bcc"),
        subject: get("subject")!,
        text: get("text"),
        html: get("html"),
        headers: Object.fromEntries(names.map((name) => [name.slice(2), get(name)!])),
        tags: form.getAll("o:tag").map(String),
        sendId: get("v:sendId")!,
        attachments,
        trackOpens: state(form.get("o:tracking-opens")),
        trackClicks: state(form.get("o:tracking-clicks")),
      };
    });
  },
  success: () => json(200, { id: `<${id}>`, message: "Queued. Thank you." }),
  messageId: () => id,
  refusal: (words) => json(400, { message: words }),
  config: [
    { status: 200, body: "Mailgun Magnificent API" },
    json(400, { message: "Domain mg.example.com is not allowed to send: The domain is unverified and requires DNS configuration." }),
    { status: 401, body: "Forbidden" },
    json(402, { message: "Upgrade your plan" }),
    json(404, { message: "Domain not found: mg.example.com" }),
  ],
  pace: [
    {
      reply: json(429, {
        message: "Domain mg.example.com is not allowed to send: request limit exceeded, try again after Mon, 20 Dec 2021 20:33:21 UTC",
      }),
      seconds: 0,
    },
  ],
  fault: [json(500, { message: "Internal Server Error" })],
};
