import { expect } from "vitest";
import { type DeliveredMail, jsonReply, type ProviderApi, parseMailbox } from "./provider-api.ts";

const id = "20260326120000.1.ABCDEF@mg.example.com";
const parseYesNo = (value: ReturnType<FormData["get"]>) =>
  value === null ? undefined : value === "yes";

export const mailgun: ProviderApi = {
  credentials: { apiKey: "example-mailgun-key", domain: "mg.example.com", region: "eu" },
  secrets: ["example-mailgun-key", Buffer.from("api:example-mailgun-key").toString("base64")],
  path: "/v3/mg.example.com/messages",
  maxTags: 3,
  async readMails({ headers, body }) {
    expect(headers.authorization).toBe(
      `Basic ${Buffer.from("api:example-mailgun-key").toString("base64")}`,
    );
    const form = await new Response(new Uint8Array(body), {
      headers: { "content-type": headers["content-type"]! },
    }).formData();
    const variables: Record<string, Record<string, string>> | undefined =
      JSON.parse(String(form.get("recipient-variables") ?? "null")) ?? undefined;
    const tos = form.getAll("to").map(String);
    // Without variables, every recipient would see all others.
    if (tos.length > 1) expect(Object.keys(variables ?? {})).toHaveLength(tos.length);
    const attachments = await Promise.all(
      form.getAll("attachment").map(async (entry) => {
        const file = entry as File;
        return {
          filename: file.name,
          type: file.type,
          content: Buffer.from(await file.arrayBuffer()).toString("base64"),
        };
      }),
    );
    return tos.map((to): DeliveredMail => {
      const recipientVariables = variables?.[parseMailbox(to).email];
      const get = (name: string) => {
        const value = form.get(name);
        // Line breaks of a form are CRLF, like in a mail.
        const text = value === null ? undefined : String(value).replaceAll("\r\n", "\n");
        return recipientVariables
          ? text?.replace(
              /%recipient\.(\w+)%/giu,
              (_, key: string) => recipientVariables[key] ?? "",
            )
          : text;
      };
      const names = [...form.keys()].filter(
        (name) => name.startsWith("h:") && name !== "h:Reply-To",
      );
      return {
        from: parseMailbox(get("from")!),
        to: parseMailbox(to),
        replyTo: get("h:Reply-To"),
        bcc: get("bcc"),
        subject: get("subject")!,
        text: get("text"),
        html: get("html"),
        headers: Object.fromEntries(names.map((name) => [name.slice(2), get(name)!])),
        tags: form.getAll("o:tag").map(String),
        sendId: get("v:sendId")!,
        attachments,
        trackOpens: parseYesNo(form.get("o:tracking-opens")),
        trackClicks: parseYesNo(form.get("o:tracking-clicks")),
      };
    });
  },
  success: () => jsonReply(200, { id: `<${id}>`, message: "Queued. Thank you." }),
  messageId: () => id,
  invalidMailReply: (message) => jsonReply(400, { message }),
  accountErrors: [
    { status: 200, body: "Mailgun Magnificent API" },
    jsonReply(400, {
      message:
        "Domain mg.example.com is not allowed to send: The domain is unverified and requires DNS configuration.",
    }),
    { status: 401, body: "Forbidden" },
    jsonReply(402, { message: "Upgrade your plan" }),
    jsonReply(404, { message: "Domain not found: mg.example.com" }),
  ],
  rateLimits: [
    {
      reply: jsonReply(429, {
        message:
          "Domain mg.example.com is not allowed to send: request limit exceeded, try again after Mon, 20 Dec 2021 20:33:21 UTC",
      }),
      seconds: 0,
    },
  ],
  outages: [],
  doubtful: [jsonReply(500, { message: "Internal Server Error" })],
};
