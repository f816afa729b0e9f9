// `pennymail listen`: webhooks for a program without a public address. It reads new events with the
// API key and posts them as the service does, signed.
import { randomBytes } from "node:crypto";
import type { EmailEvent } from "../../domain/delivery-events/email-event.ts";
import { toPayloadDetails } from "../../domain/delivery-events/webhook-payload.ts";
import type { Send } from "../../domain/sending/send-schema.ts";
import { signatureHeaders } from "../../domain/webhooks/signature-headers.ts";
import { NotFoundError } from "../sdk/errors.ts";
import { type ApiClient, call, connect } from "./api-client.ts";
import { type Command, type CommandInput, textOf } from "./command.ts";
import { readConfigFile, writeConfigFile } from "./config-file.ts";
import { CommandError } from "./exit-codes.ts";
import { follow } from "./feed.ts";
import { feedOf, parseInterval, timeOf } from "./tail.ts";
import { bold, dim, printable, type Terminal } from "./terminal.ts";

export const listen: Command = {
  usage: "listen --forward-to URL [options]",
  summary: "Forward delivery events to a program on this computer",
  description:
    "Posts each new event as a webhook endpoint gets it, with the same signatures. Events are " +
    "posted once, without retries. Ends with Ctrl-C.",
  options: {
    "forward-to": { type: "string" },
    events: { type: "string" },
    interval: { type: "string" },
  },
  optionTexts: {
    "--forward-to URL": "Required. Such as localhost:3000/hook",
    "--events TEXT": "Only these types, separated by commas: delivered,bounce",
    "--interval NUMBER": "Seconds between two looks, at least 1. Default: 2",
  },
  run: forwardEvents,
};

async function forwardEvents({ terminal, values }: CommandInput): Promise<void> {
  const url = parseTarget(textOf(values["forward-to"]));
  const types = textOf(values.events)?.split(",");
  const seconds = parseInterval(textOf(values.interval) ?? "2");
  const client = connect(terminal);
  const secret = listenSecret();
  const findSend = sendFinder(client);
  const events = feedOf<EmailEvent>(client, "events", {});
  // What happened before is not forwarded.
  await events();
  terminal.writeError(`Forwarding to ${url}. The secret of the signatures is:\n`);
  terminal.write(`${secret}\n`);
  const waiting: EmailEvent[] = [];
  const poll = async () => {
    waiting.push(...(await events()).filter(({ type }) => !types || types.includes(type)));
    for (let event = waiting[0]; event; event = waiting[0]) {
      const send = await findSend(event.sendId);
      waiting.shift();
      printForward(event, await post(url, toDelivery(event, send), secret), terminal);
    }
  };
  await follow(poll, { seconds, terminal });
}

function parseTarget(target: string | undefined): string {
  if (!target) throw new CommandError("An option is missing: --forward-to");
  const url = /^https?:\/\//.test(target) ? target : `http://${target}`;
  if (!URL.canParse(url)) throw new CommandError(`${target} is no URL`);
  return url;
}

/** The same in every run, so that a program keeps its settings. */
function listenSecret(): string {
  const config = readConfigFile();
  if (config.listenSecret) return config.listenSecret;
  const listenSecret = randomBytes(32).toString("hex");
  writeConfigFile({ ...config, listenSecret });
  return listenSecret;
}

const rememberedSends = 1000;

/** Finds the send of an event. Undefined if its site was deleted meanwhile. */
function sendFinder(client: ApiClient): (sendId: number) => Promise<Send | undefined> {
  const known = new Map<number, Send | undefined>();
  return async (sendId) => {
    if (!known.has(sendId)) {
      const send = await call<Send>(client, "sends.get", sendId).catch((error: unknown) => {
        if (error instanceof NotFoundError) return undefined;
        throw error;
      });
      if (known.size >= rememberedSends) known.clear();
      known.set(sendId, send);
    }
    return known.get(sendId);
  };
}

interface Delivery {
  id: string;
  body: string;
}

function toDelivery(event: EmailEvent, send: Send | undefined): Delivery {
  const { id, type, sendId, toEmail: email, timestamp } = event;
  const contactId = send?.contactId ?? null;
  const details = send && toPayloadDetails(event, send);
  const body = JSON.stringify({ event: type, sendId, contactId, email, timestamp, ...details });
  return { id: `msg_listen_${id}`, body };
}

/** Seconds that a program has to respond, as with the service. */
const timeoutSeconds = 15;

/** Returns the status, or why there was no response. */
async function post(url: string, { id, body }: Delivery, secret: string): Promise<string> {
  const signed = { id, timestamp: Math.floor(Date.now() / 1000), body };
  const headers = { "content-type": "application/json", ...signatureHeaders([secret], signed) };
  const signal = AbortSignal.timeout(timeoutSeconds * 1000);
  try {
    const options = { method: "POST", headers, body, signal, redirect: "manual" } as const;
    const response = await fetch(url, options);
    await response.arrayBuffer();
    return String(response.status);
  } catch (error) {
    const { cause, name } = error as Error & { cause?: { code?: string } };
    return `no response (${cause?.code ?? name})`;
  }
}

function printForward(event: EmailEvent, result: string, terminal: Terminal): void {
  const time = dim(timeOf(event.timestamp), terminal);
  const what = bold(event.type.padEnd(11), terminal);
  terminal.writeError(`${time}  ${what}  ${printable(event.toEmail)}  -> ${result}\n`);
}
