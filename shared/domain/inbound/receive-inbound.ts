// Receives a request of a provider with mail: verifies it, stores its body and queues it.
import { randomUUID } from "node:crypto";
import * as objects from "../../adapters/s3/objects.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { now } from "../../clock.ts";
import { Problem } from "../../errors.ts";
import type { InboundRequest } from "../../providers/inbound/inbound-adapter.ts";
import { confirmSubscription } from "../../providers/inbound/sns-certificates.ts";
import type { InboundMailProvider } from "../../providers/inbound-mail/provider-keys.ts";
import type { InboundMailAdapter } from "../../providers/inbound-mail/received-mail.ts";
import { getInboundMailAdapter } from "../../providers/inbound-mail/registry.ts";
import { type InboundMessage, queues } from "../../queues.ts";
import { findSiteOfToken } from "./inbound-settings.ts";

/**
 * Throws the status after which this provider gives up, if the token or the signature is not valid.
 * After any other error, the provider sends the request again.
 */
export async function receiveInbound(
  provider: InboundMailProvider,
  token: string,
  request: InboundRequest,
): Promise<void> {
  const adapter = getInboundMailAdapter(provider);
  const site = await findSiteOfToken(token);
  if (!site || !(await isGenuine(adapter, request, site.signingKey)))
    throw new Problem(
      "unauthenticated",
      "The request is not verified. Check that the URL is one of GET /inbound-settings/:siteId, " +
        "and that its signingKey is the one that the provider uses.",
      { status: adapter.rejectedStatus },
    );
  const subscribeUrl = adapter.subscribeUrl?.(request);
  if (subscribeUrl !== undefined) return confirmSubscription(subscribeUrl);
  const { orgId, siteId } = site;
  const contentType = (request.headers["content-type"] ?? "").slice(0, 300);
  await queueMail({ orgId, siteId, provider, contentType }, request.rawBody);
}

/** Stores a request or a mail in S3 and queues it. Once this returns, it is not lost. */
export async function queueMail(
  origin: Pick<InboundMessage, "orgId" | "siteId" | "provider" | "contentType">,
  body: Buffer,
): Promise<void> {
  const blob = `inbound/${origin.orgId}/requests/${randomUUID()}`;
  await objects.put(blob, body);
  const message = { ...origin, blob, receivedAt: now().toISOString() };
  await enqueue(queues.inbound, [message], { group: origin.orgId });
}

async function isGenuine(
  { verify, isSigned }: InboundMailAdapter,
  request: InboundRequest,
  signingKey: string | undefined,
): Promise<boolean> {
  if (!verify || (!isSigned && signingKey === undefined)) return true;
  return verify(request, signingKey ?? "", now());
}
