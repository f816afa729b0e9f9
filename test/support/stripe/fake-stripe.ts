// A fake Stripe for billing. It checks requests like Stripe (key, version, form encoding, unknown
// parameters, idempotency keys) and keeps their state. Its events are signed as in
// docs.stripe.com/webhooks/signatures.
import { createHmac, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import * as clock from "../../../shared/clock.ts";
import {
  findUnknownParameters,
  parseStripeForm,
  type StripeForm,
  type StripeFormShape,
} from "./stripe-form.ts";

export const secretKey = "sk_test_fake";
export const webhookSecret = "whsec_fake";
const version = "2026-10-28.endive";

type Metadata = Record<string, string>;
interface StripePrice {
  id: string;
  object: "price";
  unit_amount: number;
  currency: string;
  lookup_key: string | null;
  metadata: Metadata;
  recurring: { interval: string };
}
export interface StripeSubscription {
  id: string;
  object: "subscription";
  status: string;
  customer: string;
  created: number;
  billing_cycle_anchor: number;
  cancel_at_period_end: boolean;
  cancel_at: number | null;
  metadata: Metadata;
  items: {
    object: "list";
    data: {
      id: string;
      object: "subscription_item";
      price: StripePrice;
      current_period_start: number;
      current_period_end: number;
    }[];
  };
}
interface CheckoutSession {
  id: string;
  object: "checkout.session";
  mode: string;
  url: string;
  status: string;
  payment_status: string;
  customer: string;
  client_reference_id: string;
  subscription: string | null;
  payment_intent: string | null;
  amount_total: number;
  metadata: Metadata;
  expires_at: number;
  requests: StripeForm;
}
interface StripeCharge {
  id: string;
  object: "charge";
  amount: number;
  amount_refunded: number;
  customer: string;
  payment_intent: string;
}
interface Dispute {
  id: string;
  object: "dispute";
  charge: string;
  amount: number;
  status: string;
}
export interface StripeEvent {
  id: string;
  object: "event";
  api_version: string;
  created: number;
  type: string;
  data: { object: object };
}

export interface StripeRequest {
  method: string;
  path: string;
  form: StripeForm;
  key: string | undefined;
}

class StripeRefusal extends Error {
  readonly status: number;
  readonly body: object;
  constructor(status: number, type: string, message: string, more: object = {}) {
    super(message);
    this.status = status;
    this.body = { error: { type, message, ...more } };
  }
}
const invalidRequest = (message: string, more: object = {}) =>
  new StripeRefusal(400, "invalid_request_error", message, more);

const monthSeconds = 30 * 24 * 3600;
const nowSeconds = () => clock.epochSeconds();

export class FakeStripe {
  url = "";
  asked: StripeRequest[] = [];
  /** Events in the order in which they happened. */
  events: StripeEvent[] = [];
  /** The fault of a request: a status or a cut connection, before or `after` it takes effect. */
  faultFor: (asked: StripeRequest) => { status?: number; after?: true } | undefined = () =>
    undefined;
  /** Runs after the response to an update of a subscription. */
  afterUpdate: (subscription: StripeSubscription) => void = () => undefined;
  /** Whether the card is refused. */
  declineCard = false;
  readonly prices = new Map<string, StripePrice>();
  readonly customers = new Map<
    string,
    { id: string; object: "customer"; email?: string; metadata: Metadata }
  >();
  readonly subscriptions = new Map<string, StripeSubscription>();
  readonly sessions = new Map<string, CheckoutSession>();
  readonly intents = new Map<
    string,
    { id: string; object: "payment_intent"; metadata: Metadata }
  >();
  readonly charges = new Map<string, StripeCharge>();
  readonly disputes = new Map<string, Dispute>();
  readonly refunds: {
    id: string;
    object: "refund";
    charge: string;
    amount: number;
    status: string;
  }[] = [];
  readonly invoices: Record<string, unknown>[] = [];
  /** Stored responses by idempotency key. */
  private readonly answered = new Map<string, { question: string; answer: object }>();
  private count = 0;
  private readonly server = createServer((request, response) => void this.serve(request, response));

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }
  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** Completes the page of a checkout session. Returns the events. */
  pay(sessionId: string, { unpaid = false } = {}): StripeEvent[] {
    const session = this.sessions.get(sessionId)!;
    session.status = "complete";
    session.payment_status = unpaid ? "unpaid" : "paid";
    const from = this.events.length;
    if (session.mode === "subscription") this.subscribe(session);
    else this.charge(session);
    this.emitEvent("checkout.session.completed", session);
    return this.events.slice(from);
  }

  /** Completes a delayed payment. Returns the event. */
  completeDelayedPayment(sessionId: string): StripeEvent {
    const session = this.sessions.get(sessionId)!;
    session.payment_status = "paid";
    return this.emitEvent("checkout.session.async_payment_succeeded", session);
  }

  refund(sessionId: string, amount: number): StripeEvent {
    const charge = this.chargeOf(sessionId);
    charge.amount_refunded += amount;
    this.refunds.push({
      id: this.id("re"),
      object: "refund",
      charge: charge.id,
      amount,
      status: "succeeded",
    });
    return this.emitEvent("charge.refunded", charge);
  }

  dispute(
    sessionId: string,
    status = "needs_response",
  ): { created: StripeEvent; becomes(status: string, type: string): StripeEvent } {
    const charge = this.chargeOf(sessionId);
    const dispute: Dispute = {
      id: this.id("dp"),
      object: "dispute",
      charge: charge.id,
      amount: charge.amount,
      status,
    };
    this.disputes.set(dispute.id, dispute);
    return {
      created: this.emitEvent("charge.dispute.created", dispute),
      becomes: (status, type) =>
        this.emitEvent(`charge.dispute.${type}`, Object.assign(dispute, { status })),
    };
  }

  /** Changes a subscription like Stripe itself, such as when it ends. */
  changeSubscription(
    subscription: StripeSubscription,
    changes: Partial<StripeSubscription>,
    type = "customer.subscription.updated",
  ): StripeEvent {
    Object.assign(subscription, changes);
    return this.emitEvent(type, subscription);
  }

  /** Returns the header and body of the webhook request of an event. */
  toWebhookCall(
    event: StripeEvent,
    { secret = webhookSecret, at = nowSeconds() } = {},
  ): { raw: Buffer<ArrayBuffer>; headers: Record<string, string> } {
    const body = JSON.stringify(event);
    const signature = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
    return {
      raw: Buffer.from(body),
      headers: {
        "content-type": "application/json",
        "stripe-signature": `t=${at},v1=${signature},v0=00`,
      },
    };
  }

  emitEvent(type: string, object: object): StripeEvent {
    const payload = structuredClone(object) as { asked?: unknown };
    delete payload.asked;
    const event: StripeEvent = {
      id: this.id("evt"),
      object: "event",
      api_version: version,
      created: nowSeconds(),
      type,
      data: { object: payload },
    };
    this.events.push(event);
    return event;
  }

  private chargeOf(sessionId: string): StripeCharge {
    const intent = this.sessions.get(sessionId)!.payment_intent!;
    return [...this.charges.values()].find(({ payment_intent }) => payment_intent === intent)!;
  }

  private subscribe(session: CheckoutSession) {
    const given = session.requests.subscription_data as { metadata: Metadata };
    const price = this.prices.get(
      (session.requests.line_items as { 0: { price: string } })[0].price,
    )!;
    const made = nowSeconds();
    const item = {
      id: this.id("si"),
      object: "subscription_item" as const,
      price,
      current_period_start: made,
      current_period_end: made + monthSeconds,
    };
    const subscription: StripeSubscription = {
      id: this.id("sub"),
      object: "subscription",
      status: "active",
      customer: session.customer,
      created: made,
      billing_cycle_anchor: made,
      cancel_at_period_end: false,
      cancel_at: null,
      metadata: given.metadata,
      items: { object: "list", data: [item] },
    };
    this.subscriptions.set(subscription.id, subscription);
    session.subscription = subscription.id;
    this.emitEvent("customer.subscription.created", subscription);
    this.emitEvent("invoice.paid", this.invoice(subscription, price.unit_amount));
  }

  private invoice(subscription: StripeSubscription, amount: number) {
    const { id, metadata } = subscription;
    const invoice = {
      id: this.id("in"),
      object: "invoice",
      number: `PM-${this.invoices.length + 1}`,
      status: "paid",
      customer: subscription.customer,
      currency: "usd",
      created: nowSeconds(),
      amount_due: amount,
      amount_paid: amount,
      hosted_invoice_url: `${this.url}/invoice`,
      invoice_pdf: `${this.url}/invoice.pdf`,
      parent: {
        type: "subscription_details",
        subscription_details: { subscription: id, metadata },
      },
      lines: { object: "list", data: [] },
    };
    this.invoices.unshift(invoice);
    return invoice;
  }

  private charge(session: CheckoutSession) {
    const given = session.requests.payment_intent_data as { metadata: Metadata };
    const intent = {
      id: this.id("pi"),
      object: "payment_intent" as const,
      metadata: given.metadata,
    };
    this.intents.set(intent.id, intent);
    session.payment_intent = intent.id;
    const charge = {
      id: this.id("ch"),
      object: "charge" as const,
      amount: session.amount_total,
      amount_refunded: 0,
      customer: session.customer,
      payment_intent: intent.id,
    };
    this.charges.set(charge.id, charge);
  }

  private id = (prefix: string): string => `${prefix}_${++this.count}_${randomUUID().slice(0, 8)}`;

  private async serve(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? "/", "http://stripe");
    const form = parseStripeForm(
      request.method === "POST" ? await text(request) : url.search.slice(1),
    );
    const asked = {
      method: request.method!,
      path: url.pathname,
      form,
      key: request.headers["idempotency-key"] as string | undefined,
    };
    this.asked.push(asked);
    const fault = this.faultFor(asked);
    if (fault && !fault.after) return breakResponse(request, response, fault.status);
    const { status, body } = this.answer(request, asked);
    if (fault) return breakResponse(request, response, fault.status);
    response
      .writeHead(status, { "content-type": "application/json", "request-id": "req_1" })
      .end(JSON.stringify(body));
  }

  private answer(
    { headers }: IncomingMessage,
    asked: StripeRequest,
  ): { status: number; body: object } {
    try {
      if (headers.authorization !== `Bearer ${secretKey}`)
        throw new StripeRefusal(401, "invalid_request_error", "Invalid API Key provided");
      if (headers["stripe-version"] !== version)
        throw invalidRequest(`Version ${headers["stripe-version"]}`);
      if (
        asked.method === "POST" &&
        headers["content-type"] !== "application/x-www-form-urlencoded"
      )
        throw invalidRequest("Not a form");
      return { status: 200, body: this.withIdempotencyKey(asked) };
    } catch (error) {
      if (error instanceof StripeRefusal) return { status: error.status, body: error.body };
      return { status: 500, body: { error: { type: "api_error", message: String(error) } } };
    }
  }

  /** Repeats the response for a known key, and refuses another request with it. */
  private withIdempotencyKey(asked: StripeRequest): object {
    if (asked.method === "GET") return this.dispatch(asked);
    if (!asked.key) throw invalidRequest("A POST without an idempotency key");
    const question = JSON.stringify([asked.path, asked.form]);
    const known = this.answered.get(asked.key);
    if (known && known.question !== question)
      throw new StripeRefusal(
        400,
        "idempotency_error",
        "Keys for idempotent requests can only be used with the same parameters",
      );
    const answer = known?.answer ?? structuredClone(this.dispatch(asked));
    this.answered.set(asked.key, { question, answer });
    return answer;
  }

  private dispatch({ method, path, form }: StripeRequest): object {
    for (const [signature, { parameters, run }] of Object.entries(operations)) {
      const [verb, pattern = ""] = signature.split(" ");
      const found = new RegExp(`^/v1${pattern.replace(":id", "([\\w]+)")}$`).exec(path);
      if (verb !== method || !found) continue;
      const unknown = findUnknownParameters(form, parameters);
      if (unknown.length)
        throw invalidRequest(`Received unknown parameter: ${unknown.join(", ")}`, {
          code: "parameter_unknown",
        });
      return run(this, form, found[1] ?? "");
    }
    throw new StripeRefusal(
      404,
      "invalid_request_error",
      `Unrecognized request URL (${method}: ${path})`,
    );
  }

  customerOf(id: unknown) {
    return (
      this.customers.get(String(id)) ??
      throwRefusal(
        new StripeRefusal(400, "invalid_request_error", `No such customer: '${id}'`, {
          code: "resource_missing",
        }),
      )
    );
  }
  subscriptionOf(id: unknown) {
    return (
      this.subscriptions.get(String(id)) ??
      throwRefusal(
        new StripeRefusal(404, "invalid_request_error", `No such subscription: '${id}'`, {
          code: "resource_missing",
        }),
      )
    );
  }
  newId(prefix: string): string {
    return this.id(prefix);
  }
  emitInvoicePaid(subscription: StripeSubscription, amount: number) {
    return this.emitEvent("invoice.paid", this.invoice(subscription, amount));
  }
}

function throwRefusal(refusal: StripeRefusal): never {
  throw refusal;
}

function breakResponse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number | undefined,
) {
  if (status === undefined) return void request.socket.destroy();
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ error: { type: "api_error", message: "Down" } }));
}

interface StripeOperation {
  parameters: StripeFormShape;
  run(stripe: FakeStripe, form: StripeForm, id: string): object;
}
const itemShape: StripeFormShape = { id: true, price: true };
const listObject = (data: object[]) => ({ object: "list", data, has_more: false });

const operations: Record<string, StripeOperation> = {
  "POST /customers": {
    parameters: { email: true, metadata: "map" },
    run: (stripe, form) => {
      const customer = {
        id: stripe.newId("cus"),
        object: "customer" as const,
        ...form,
        metadata: (form.metadata ?? {}) as Metadata,
      };
      stripe.customers.set(customer.id, customer);
      return customer;
    },
  },
  "GET /prices": {
    parameters: { lookup_keys: { "[]": true }, active: true, limit: true },
    run: (stripe, { lookup_keys }) =>
      listObject(
        [...stripe.prices.values()].filter(({ lookup_key }) =>
          Object.values(lookup_keys as StripeForm).includes(lookup_key ?? ""),
        ),
      ),
  },
  "POST /prices": {
    parameters: {
      lookup_key: true,
      currency: true,
      unit_amount: true,
      recurring: { interval: true },
      product_data: { name: true },
      metadata: "map",
    },
    run: (stripe, form) => {
      if ([...stripe.prices.values()].some(({ lookup_key }) => lookup_key === form.lookup_key))
        throw invalidRequest(`A price (\`price_1\`) already uses that lookup key.`);
      const { product_data: _, ...rest } = form;
      const price = {
        id: stripe.newId("price"),
        object: "price",
        ...rest,
        unit_amount: Number(form.unit_amount),
      } as unknown as StripePrice;
      stripe.prices.set(price.id, price);
      return price;
    },
  },
  "POST /checkout/sessions": {
    parameters: {
      mode: true,
      customer: true,
      client_reference_id: true,
      success_url: true,
      cancel_url: true,
      metadata: "map",
      subscription_data: { metadata: "map" },
      payment_intent_data: { metadata: "map" },
      line_items: {
        "[]": {
          price: true,
          quantity: true,
          price_data: { currency: true, unit_amount: true, product_data: { name: true } },
        },
      },
    },
    run: (stripe, form) => {
      stripe.customerOf(form.customer);
      const line = (form.line_items as { 0: StripeForm })[0];
      const price = stripe.prices.get(String(line.price));
      if (form.mode === "subscription" && !price)
        throw invalidRequest(`No such price: '${line.price}'`);
      const id = stripe.newId("cs_test");
      const session: CheckoutSession = {
        id,
        object: "checkout.session",
        mode: String(form.mode),
        url: `${stripe.url}/pay/${id}`,
        status: "open",
        payment_status: "unpaid",
        customer: String(form.customer),
        client_reference_id: String(form.client_reference_id),
        subscription: null,
        payment_intent: null,
        amount_total: price?.unit_amount ?? Number((line.price_data as StripeForm).unit_amount),
        metadata: form.metadata as Metadata,
        expires_at: nowSeconds() + 24 * 3600,
        requests: form,
      };
      stripe.sessions.set(id, session);
      const { requests: _, ...payload } = session;
      return payload;
    },
  },
  "POST /billing_portal/sessions": {
    parameters: { customer: true, return_url: true },
    run: (stripe, { customer, return_url }) => {
      stripe.customerOf(customer);
      const id = stripe.newId("bps");
      return {
        id,
        object: "billing_portal.session",
        url: `${stripe.url}/portal/${id}`,
        customer,
        return_url,
      };
    },
  },
  "GET /subscriptions/:id": { parameters: {}, run: (stripe, _, id) => stripe.subscriptionOf(id) },
  "POST /subscriptions/:id": {
    parameters: {
      items: { "[]": itemShape },
      proration_behavior: true,
      proration_date: true,
      payment_behavior: true,
      cancel_at_period_end: true,
    },
    run: (stripe, form, id) => {
      const subscription = stripe.subscriptionOf(id);
      const newItem = (form.items as { 0: StripeForm } | undefined)?.[0];
      if (newItem) {
        const { due } = prorated(stripe, subscription, newItem, Number(form.proration_date));
        if (due > 0 && stripe.declineCard)
          throw new StripeRefusal(402, "card_error", "Your card was declined.", {
            code: "card_declined",
            decline_code: "generic_decline",
          });
        subscription.items.data[0]!.price = stripe.prices.get(String(newItem.price))!;
        if (due > 0) stripe.emitInvoicePaid(subscription, due);
      }
      if (form.cancel_at_period_end !== undefined) {
        subscription.cancel_at_period_end = form.cancel_at_period_end === "true";
        subscription.cancel_at = subscription.cancel_at_period_end
          ? subscription.items.data[0]!.current_period_end
          : null;
      }
      stripe.emitEvent("customer.subscription.updated", subscription);
      const answer = structuredClone(subscription);
      stripe.afterUpdate(subscription);
      return answer;
    },
  },
  "POST /invoices/create_preview": {
    parameters: {
      customer: true,
      subscription: true,
      subscription_details: {
        items: { "[]": itemShape },
        proration_behavior: true,
        proration_date: true,
      },
    },
    run: (stripe, form) => {
      const details = form.subscription_details as {
        items: { 0: StripeForm };
        proration_date: string;
      };
      const { lines, due } = prorated(
        stripe,
        stripe.subscriptionOf(form.subscription),
        details.items[0],
        Number(details.proration_date),
      );
      const total = lines.reduce((sum, { amount }) => sum + amount, 0);
      return {
        id: "upcoming_in",
        object: "invoice",
        currency: "usd",
        total,
        amount_due: due,
        lines: listObject(lines),
      };
    },
  },
  "GET /invoices": {
    parameters: { customer: true, limit: true },
    run: (stripe, { customer, limit }) =>
      listObject(
        stripe.invoices.filter((one) => one.customer === customer).slice(0, Number(limit)),
      ),
  },
  "GET /refunds": {
    parameters: { charge: true, limit: true },
    run: (stripe, { charge }) =>
      listObject(stripe.refunds.filter((refund) => refund.charge === charge)),
  },
  "GET /charges/:id": { parameters: {}, run: (stripe, _, id) => stripe.charges.get(id)! },
  "GET /disputes/:id": { parameters: {}, run: (stripe, _, id) => stripe.disputes.get(id)! },
  "GET /payment_intents/:id": { parameters: {}, run: (stripe, _, id) => stripe.intents.get(id)! },
};

/**
 * Prorates by the second like Stripe: the rest of the old plan is credited, and the rest of the new
 * plan is charged.
 */
function prorated(
  stripe: FakeStripe,
  { items }: StripeSubscription,
  newItem: StripeForm,
  at: number,
) {
  const [current] = items.data;
  const price = stripe.prices.get(String(newItem.price));
  if (!current || current.id !== newItem.id || !price)
    throw invalidRequest("No such subscription item or price");
  const { current_period_start: start, current_period_end: end } = current;
  if (!(at >= start && at <= end))
    throw invalidRequest("proration_date must lie in the current period");
  const share = (amount: number) => Math.round((amount * (end - at)) / (end - start));
  const lines = [
    {
      id: "il_1",
      object: "line_item",
      amount: -share(current.price.unit_amount),
      currency: "usd",
      description: "Unused time",
    },
    {
      id: "il_2",
      object: "line_item",
      amount: share(price.unit_amount),
      currency: "usd",
      description: "Remaining time",
    },
  ];
  return {
    lines,
    due: Math.max(
      0,
      lines.reduce((sum, { amount }) => sum + amount, 0),
    ),
  };
}

export const startFakeStripe = (): Promise<FakeStripe> => new FakeStripe().start();
