// The service with stand-ins for Stripe, Google, Pexels and the domain registry, so that the examples of
// the OpenAPI document work.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { operatorEmail } from "./api-client.ts";
import { startFakeGoogle } from "./fake-google.ts";
import { type RunningTestService, startServiceProcess } from "./service-process.ts";
import {
  type FakeStripe,
  secretKey,
  startFakeStripe,
  webhookSecret,
} from "./stripe/fake-stripe.ts";

const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, ...Buffer.from("red shoes")]);
const photo = {
  ...{
    id: 3573351,
    width: 4000,
    height: 3000,
    url: "https://www.pexels.com/photo/3573351/",
    alt: "Red shoes",
  },
  ...{ photographer: "Jo Doe", photographer_url: "https://www.pexels.com/@jo-doe" },
  src: Object.fromEntries(
    ["large2x", "large", "medium"].map((size) => [
      size,
      `https://images.pexels.com/photos/3573351/${size}.jpeg`,
    ]),
  ),
};

/** A fake Pexels, and a fake domain registry without domains. */
const createFakeServices = () =>
  createServer(({ url = "" }, response) => {
    const json = (body: object) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (url.startsWith("/photos/"))
      return response.writeHead(200, { "content-type": "image/jpeg" }).end(jpeg);
    if (url.startsWith("/v1/photos/")) return json(photo);
    return url.startsWith("/v1/")
      ? json({ total_results: 1, photos: [photo] })
      : response.writeHead(404).end();
  });

export interface ExampleServices {
  service: RunningTestService;
  stripe: FakeStripe;
  stop(): Promise<void>;
}

export async function startExampleServices(
  settings: Record<string, string> = {},
): Promise<ExampleServices> {
  const fakes = createFakeServices();
  await new Promise<void>((resolve) => fakes.listen(0, "127.0.0.1", resolve));
  const other = `http://127.0.0.1:${(fakes.address() as AddressInfo).port}`;
  const [stripe, google] = await Promise.all([startFakeStripe(), startFakeGoogle()]);
  const service = await startServiceProcess({
    ...{
      STRIPE_URL: stripe.url,
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_WEBHOOK_SECRET: webhookSecret,
    },
    ...{ PEXELS_API_KEY: "key", PEXELS_URL: other, RDAP_URL: other, DNS_SERVERS: "127.0.0.1:9" },
    PROVIDER_URL_GOOGLE: google.url,
    ...{ ADDRESS_LIMIT_PER_MINUTE: "1000000", LOGIN_FAILURES_PER_ADDRESS: "1000000" },
    OPERATORS: operatorEmail,
    ...settings,
  });
  const stop = async () => {
    await service.stop();
    stripe.stop();
    google.close();
    fakes.close();
  };
  return { service, stripe, stop };
}
