import { readFileSync } from "node:fs";
import { createServer as http, type RequestListener, type Server } from "node:http";
import { createServer as https } from "node:https";
import { type AddressInfo, type Server as TcpServer, createServer as tcp } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { request } from "../../shared/adapters/http/client.ts";
import type { NoResponse } from "../../shared/adapters/http/no-response.ts";
import {
  type PublicPostRequest,
  postToPublicUrl,
} from "../../shared/adapters/http/public-client.ts";
import * as clock from "../../shared/clock.ts";
import { isLoopbackIp, isPublicIp } from "../../shared/kernel/ip-addresses.ts";
import { findUrlFault, maxUrlLength } from "../../shared/kernel/public-urls.ts";
import { type AnswersInTurn, type Dns, startDnsServer } from "../support/dns.ts";

const pem = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url));
const identity = (name: "trusted" | "stranger") => ({ key: pem(`${name}-key`), cert: pem(name) });

beforeAll(() =>
  setDefaultCACertificates([...getCACertificates("default"), pem("trusted").toString()]),
);

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  delete process.env.DNS_SERVERS;
});

/** Starts the server on a free port. Returns the port. */
async function listening(server: Server | TcpServer): Promise<number> {
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({
    close: () => {
      if ("closeAllConnections" in server) server.closeAllConnections();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}

async function resolving(answers: AnswersInTurn): Promise<Dns> {
  const server = await startDnsServer(answers);
  open.push(server);
  process.env.DNS_SERVERS = server.address;
  return server;
}

const name = "hooks.shop.example";
const post = (url: string, more: Partial<PublicPostRequest> = {}) =>
  postToPublicUrl({
    url,
    headers: { "x-test": "1" },
    body: "{}",
    timeoutSeconds: 5,
    allowLoopback: true,
    ...more,
  });
/** Returns the error of the call, which must fail. */
const failing = async (work: Promise<unknown>): Promise<NoResponse> =>
  work.then(
    () => {
      throw new Error("It was answered");
    },
    (error) => error,
  );

describe("addresses", () => {
  test.each([
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.1",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "2001:200::1",
  ])("%s is public", (address) => {
    expect(isPublicIp(address)).toBe(true);
  });

  test.each([
    ["this network", "0.0.0.0", "0.1.2.3"],
    ["private", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1"],
    ["loopback", "127.0.0.1", "127.255.255.255", "::1"],
    ["link-local", "169.254.0.1", "fe80::1", "febf::1", "fe80::1%eth0"],
    ["carrier-grade NAT", "100.64.0.1", "100.127.255.255"],
    [
      "metadata",
      "169.254.169.254",
      "fd00:ec2::254",
      "100.100.100.200",
      "192.0.0.192",
      "168.63.129.16",
    ],
    ["documentation", "192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    ["benchmarks", "198.18.0.1", "198.19.255.255", "2001:2::1"],
    ["multicast", "224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
    ["reserved", "240.0.0.1", "255.255.255.255", "::", "100::1", "5f00::1", "4000::1"],
    ["unique local", "fc00::1", "fdff::1", "fec0::1"],
    [
      "IPv4-mapped and -compatible",
      "::ffff:10.0.0.1",
      "::ffff:8.8.8.8",
      "::ffff:7f00:1",
      "::10.0.0.1",
      "::ffff:0:a00:1",
    ],
    ["NAT64", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::808:808", "64:ff9b:1::a00:1"],
    ["6to4", "2002:a00:1::1", "2002:7f00:1::", "192.88.99.1"],
    ["Teredo", "2001:0:a00:1::1", "2001::1"],
    ["no address at all", "", "localhost", "1.2.3", "0x7f.0.0.1", "1.2.3.4.5", "[::1]"],
  ])("%s is not public", (_, ...addresses) => {
    expect(addresses.filter(isPublicIp)).toEqual([]);
  });

  test("only addresses of this machine are loopback", () => {
    expect(["127.0.0.1", "127.9.9.9", "::1"].every(isLoopbackIp)).toBe(true);
    expect(["128.0.0.1", "10.0.0.1", "::2", "localhost", ""].some(isLoopbackIp)).toBe(false);
  });
});

describe("URLs", () => {
  test.each([
    "https://shop.example/hooks",
    "https://shop.example:443/hooks?a=b#c",
    "https://shop.example:8443/",
    "https://bücher.example/",
    "HTTPS://SHOP.EXAMPLE",
    "https://1.1.1.1/",
    "https://[2606:4700:4700::1111]/",
  ])("accepts %s", (url) => {
    expect(findUrlFault(url, false)).toBeUndefined();
  });

  test("a URL can have 2,048 characters", () => {
    expect(
      findUrlFault(`https://shop.example/${"a".repeat(maxUrlLength - 21)}`, false),
    ).toBeUndefined();
  });

  test.each([
    [
      "other than https",
      "http://shop.example/",
      "ftp://shop.example/",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "data:text/plain,x",
    ],
    [
      "no URL",
      "",
      "shop.example",
      "/hooks",
      "//shop.example",
      "https://",
      "https://a b/",
      "https://shop.example:99999/",
    ],
    [
      "blanks and line breaks",
      "https://shop.example/a\nb",
      "https://shop.example/\r\n",
      " https://shop.example/",
      "https://shop.example/\tb",
    ],
    ["too long", `https://shop.example/${"a".repeat(maxUrlLength - 20)}`],
    [
      "user or password",
      "https://user:pass@shop.example/",
      "https://user@shop.example/",
      "https://:pass@shop.example/",
    ],
    [
      "odd ports",
      "https://shop.example:22/",
      "https://shop.example:80/",
      "https://shop.example:444/",
      "https://shop.example:9200/",
    ],
    [
      "loopback",
      "https://127.0.0.1/",
      "https://localhost/",
      "https://LOCALHOST/",
      "https://a.localhost/",
      "https://[::1]/",
    ],
    ["decimal spelling", "https://2130706433/", "https://3232235521/", "https://2852039166/"],
    ["octal spelling", "https://0177.0.0.1/", "https://017700000001/", "https://0300.0250.0.1/"],
    ["hexadecimal spelling", "https://0x7f.0.0.1/", "https://0x7f000001/", "https://0xa9fea9fe/"],
    ["short spelling", "https://127.1/", "https://10.1/", "https://0/"],
    [
      "full-width spelling",
      "https://１２７.０.０.１/",
      "https://ｌｏｃａｌｈｏｓｔ/",
      "https://127。0。0。1/",
    ],
    ["escaped spelling", "https://%31%32%37.0.0.1/", "https://loc%61lhost/"],
    ["trailing dots", "https://127.0.0.1./", "https://localhost./", "https://shop.example./"],
    [
      "private",
      "https://10.0.0.1/",
      "https://192.168.1.1/",
      "https://169.254.169.254/latest/meta-data/",
      "https://[fd00:ec2::254]/",
    ],
    [
      "IPv4 in IPv6",
      "https://[::ffff:127.0.0.1]/",
      "https://[::ffff:a9fe:a9fe]/",
      "https://[64:ff9b::7f00:1]/",
      "https://[::127.0.0.1]/",
    ],
    [
      "inner names",
      "https://intranet/",
      "https://db.internal/",
      "https://printer.local/",
      "https://nas.home.arpa/",
    ],
  ])("refuses %s", (_, ...urls) => {
    expect(urls.filter((url) => findUrlFault(url, false) === undefined)).toEqual([]);
  });

  test("allowLoopback only adds http URLs of this machine and other ports", () => {
    for (const url of [
      "http://127.0.0.1:3000/x",
      "http://localhost:80/",
      "https://localhost:9999/",
      "http://[::1]:8080/",
    ])
      expect(findUrlFault(url, true)).toBeUndefined();
    for (const url of [
      "http://shop.example/",
      "http://10.0.0.1/",
      "https://169.254.169.254/",
      "http://0.0.0.0/",
      "http://localhost./",
    ])
      expect(findUrlFault(url, true)).toBeDefined();
  });
});

/** A TLS server with a certificate for `name`. It records its requests. */
async function shop(
  answer: RequestListener = (_, response) => response.end("ok"),
  who: "trusted" | "stranger" = "trusted",
) {
  const hosts: (string | undefined)[] = [];
  const server = https(identity(who), (request, response) => {
    hosts.push(request.headers.host);
    answer(request, response);
  });
  const port = await listening(server);
  return { url: `https://${name}:${port}/hooks`, port, hosts };
}

describe("a request to a URL of a customer", () => {
  test("resolves the name once, connects to that address, and uses the name for TLS and Host", async () => {
    const server = await shop();
    const { queries } = await resolving({ [`A ${name}`]: [["127.0.0.1"], ["10.0.0.1"]] });
    expect(await post(server.url)).toEqual({ status: 200, startOfText: "ok" });
    expect(server.hosts).toEqual([`${name}:${server.port}`]);
    expect(queries.toSorted()).toEqual([`A ${name}`, `AAAA ${name}`]);
  });

  test("is not sent if the name first resolves to a private address and later to a public one", async () => {
    const server = await shop();
    await resolving({ [`A ${name}`]: [["10.0.0.1"], ["127.0.0.1"]] });
    const error = await failing(post(server.url));
    expect([error.mayHaveArrived, error.reason]).toEqual([
      false,
      "The URL's host name resolves to an address that is not public",
    ]);
    expect(server.hosts).toEqual([]);
  });

  test.each([
    ["loopback", { A: ["127.0.0.1"] }],
    ["private", { A: ["192.168.0.7"] }],
    ["metadata", { A: ["169.254.169.254"] }],
    ["IPv6 loopback", { AAAA: ["::1"] }],
    ["unique local", { AAAA: ["fd00:ec2::254"] }],
    ["IPv4-mapped", { AAAA: ["::ffff:7f00:1"] }],
    ["NAT64", { AAAA: ["64:ff9b::a9fe:a9fe"] }],
    ["one of several", { A: ["93.184.216.34", "127.0.0.1"] }],
    ["the other family", { A: ["93.184.216.34"], AAAA: ["fe80::1"] }],
  ])(
    "is not made to a name that resolves to %s",
    async (_, { A = [], AAAA = [] }: { A?: string[]; AAAA?: string[] }) => {
      await resolving({ [`A ${name}`]: [A], [`AAAA ${name}`]: [AAAA] });
      const error = await failing(post(`https://${name}/`, { allowLoopback: false }));
      expect([error.mayHaveArrived, error.timedOut, error.reason]).toEqual([
        false,
        false,
        "The URL's host name resolves to an address that is not public",
      ]);
    },
  );

  test("is not sent to a name without an address or to a private IP address", async () => {
    await resolving({});
    expect((await failing(post(`https://${name}/`))).reason).toBe(
      "The URL's host name does not resolve to an address",
    );
    const port = await listening(http((_, response) => response.end()));
    expect(
      (await failing(post(`http://127.0.0.1:${port}/`, { allowLoopback: false }))).reason,
    ).toBe("The URL must begin with https://");
    expect((await failing(post("https://127.0.0.1/", { allowLoopback: false }))).reason).toBe(
      "The URL must name a public address",
    );
  });

  test("follows no redirect", async () => {
    const paths: (string | undefined)[] = [];
    const port = await listening(
      http((request, response) => {
        paths.push(request.url);
        response.writeHead(307, { location: "/elsewhere" }).end();
      }),
    );
    expect(await post(`http://127.0.0.1:${port}/hooks`)).toEqual({ status: 307, startOfText: "" });
    expect(paths).toEqual(["/hooks"]);
  });

  test("returns the status even if the body is long or slow", async () => {
    let dropped = 0;
    const port = await listening(
      http((request, response) => {
        request.socket.once("close", () => dropped++);
        response.writeHead(200);
        if (request.url === "/slow") return void response.write("one word");
        const pour = () => {
          while (response.write("x".repeat(10_000)));
        };
        response.on("drain", pour);
        pour();
      }),
    );
    const startOfText = "x".repeat(1000);
    expect(await post(`http://127.0.0.1:${port}/endless`)).toEqual({ status: 200, startOfText });
    // For a second, the rest is awaited.
    expect(await post(`http://127.0.0.1:${port}/slow`)).toEqual({
      status: 200,
      startOfText: "one word",
    });
    await expect.poll(() => dropped).toBe(2);
  });

  test("respects its time limit if the server or the name server does not respond", async () => {
    const port = await listening(http(() => {}));
    await resolving({ "A slow.shop.example": [], "AAAA slow.shop.example": [] });
    const [hanging, unresolved] = await Promise.all([
      failing(post(`http://127.0.0.1:${port}/`, { timeoutSeconds: 0.2 })),
      failing(post("https://slow.shop.example/", { timeoutSeconds: 0.2 })),
    ]);
    expect([hanging.timedOut, hanging.mayHaveArrived, hanging.reason]).toEqual([
      true,
      true,
      "The server did not respond in time",
    ]);
    expect([unresolved.timedOut, unresolved.mayHaveArrived]).toEqual([true, false]);
  });

  test("reuses connections, and repeats the request if the server has closed the connection", async () => {
    const served = new Map<object, number>();
    const port = await listening(
      http((request, response) => {
        const n = (served.get(request.socket) ?? 0) + 1;
        served.set(request.socket, n);
        if (n === 3) request.socket.destroy();
        else response.end();
      }),
    );
    for (let i = 0; i < 3; i++)
      expect(await post(`http://127.0.0.1:${port}/`)).toEqual({ status: 200, startOfText: "" });
    expect([...served.values()]).toEqual([3, 1]);
  });

  test("names the reason of a failure", async () => {
    const closed = await listening(tcp());
    await open.splice(0)[0]!.close();
    const cut = await listening(http((request) => void request.socket.destroy()));
    const nonsense = await listening(
      tcp((socket) => socket.once("data", () => socket.end("nonsense\r\n"))),
    );
    const plain = await listening(http((_, response) => response.end()));
    const [known, stranger] = [await shop(), await shop(undefined, "stranger")];
    await resolving({ [`A ${name}`]: [["127.0.0.1"]] });
    const errorOf = async (url: string) => {
      const { mayHaveArrived, reason } = await failing(post(url));
      return [mayHaveArrived, reason];
    };
    expect(await errorOf(`http://127.0.0.1:${closed}/`)).toEqual([
      false,
      "The connection could not be established (ECONNREFUSED)",
    ]);
    expect(await errorOf(`http://127.0.0.1:${cut}/`)).toEqual([
      true,
      "The connection was lost before the response arrived (ECONNRESET)",
    ]);
    expect(await errorOf(`http://127.0.0.1:${nonsense}/`)).toEqual([
      true,
      expect.stringContaining("HPE_INVALID"),
    ]);
    expect(await errorOf(`https://127.0.0.1:${plain}/`)).toEqual([
      false,
      "The connection could not be established (EPROTO)",
    ]);
    const untrusted = "The TLS certificate was not accepted";
    expect(await errorOf(stranger.url)).toEqual([
      false,
      `${untrusted} (DEPTH_ZERO_SELF_SIGNED_CERT)`,
    ]);
    expect(await errorOf(`https://127.0.0.1:${known.port}/`)).toEqual([
      false,
      `${untrusted} (ERR_TLS_CERT_ALTNAME_INVALID)`,
    ]);
    expect(stranger.hosts).toEqual([]);
  });
});

describe("a request without a response", () => {
  const reached = async (url: string) =>
    (await failing(request({ method: "POST", url, body: "x", timeoutSeconds: 5 }))).mayHaveArrived;

  test("has not arrived if the connection or its TLS handshake failed", async () => {
    const closed = await listening(tcp());
    await open.splice(0)[0]!.close();
    const plain = await listening(http((_, response) => response.end()));
    const stranger = await listening(https(identity("stranger"), (_, response) => response.end()));
    const hangingUp = await listening(tcp((socket) => socket.once("data", () => socket.end())));
    const old = await listening(
      https(
        {
          ...identity("trusted"),
          minVersion: "TLSv1",
          maxVersion: "TLSv1.1",
          ciphers: "ALL:@SECLEVEL=0",
        },
        (_, response) => response.end(),
      ),
    );
    const certificateAsked = await listening(
      https({ ...identity("trusted"), requestCert: true, maxVersion: "TLSv1.2" }, (_, response) =>
        response.end(),
      ),
    );
    expect(await reached(`http://127.0.0.1:${closed}/`)).toBe(false);
    for (const port of [plain, stranger, hangingUp, old, certificateAsked])
      expect(await reached(`https://127.0.0.1:${port}/`)).toBe(false);
  });

  test("may have arrived if the connection was lost later or the server did not respond in time", async () => {
    const cut = await listening(http((request) => void request.socket.destroy()));
    const half = await listening(
      tcp((socket) =>
        socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")),
      ),
    );
    const silent = await listening(http(() => {}));
    const endless = await listening(http((_, response) => void response.write("half")));
    expect(await reached(`http://127.0.0.1:${cut}/`)).toBe(true);
    expect(await reached(`http://127.0.0.1:${half}/`)).toBe(true);
    for (const port of [silent, endless]) {
      const error = await failing(
        request({ url: `http://127.0.0.1:${port}/`, timeoutSeconds: 0.2 }),
      );
      expect([error.mayHaveArrived, error.timedOut]).toEqual([true, true]);
    }
  });

  test("has not arrived if the server does not accept the connection in time", async () => {
    const mute = await listening(tcp(() => {}));
    const error = await failing(
      request({ url: `https://127.0.0.1:${mute}/`, timeoutSeconds: 0.2 }),
    );
    expect([error.mayHaveArrived, error.timedOut]).toEqual([false, true]);
  });
});

describe("a request to a known host", () => {
  test("returns status, headers and body, and keeps its connection", async () => {
    const sockets = new Set<unknown>();
    const bodies: string[] = [];
    const server = http(async (incoming, response) => {
      sockets.add(incoming.socket);
      bodies.push(Buffer.concat(await incoming.toArray()).toString());
      response.writeHead(302, { location: "/other", "x-id": "7" }).end("grüezi");
    });
    const url = `http://127.0.0.1:${await listening(server)}/`;
    const asked = { method: "POST", url, body: "x" } as const;
    const { status, headers, text } = await request(asked);
    expect([status, headers.get("X-Id"), text]).toEqual([302, "7", "grüezi"]);
    await request(asked);
    expect(sockets.size).toBe(1);
    expect(bodies).toEqual(["x", "x"]);
  });

  test("uses no connection that was idle for over a second, if the caller needs it", async () => {
    const sockets = new Set<unknown>();
    const server = http((incoming, response) => {
      sockets.add(incoming.socket);
      response.end();
    });
    const asked = { url: `http://127.0.0.1:${await listening(server)}/` };
    const now = vi.spyOn(clock, "now");
    const at = (seconds: number) => now.mockReturnValue(new Date(seconds * 1000));
    for (const seconds of [0, 0.9]) {
      at(seconds);
      await request({ ...asked, needsFreshConnection: true });
    }
    expect(sockets.size).toBe(1);
    at(2);
    await request(asked);
    expect(sockets.size).toBe(1);
    at(3.1);
    await request({ ...asked, needsFreshConnection: true });
    expect(sockets.size).toBe(2);
    now.mockRestore();
  });

  test("sends forms with their content type", async () => {
    const forms: FormData[] = [];
    const server = http(async (incoming, response) => {
      const body = Buffer.concat(await incoming.toArray());
      const headers = { "content-type": incoming.headers["content-type"]! };
      forms.push(await new Response(body, { headers }).formData());
      response.end();
    });
    const body = new FormData();
    body.append("name", "Zoë");
    await request({ method: "POST", url: `http://127.0.0.1:${await listening(server)}/`, body });
    expect(forms[0]?.get("name")).toBe("Zoë");
  });

  test("fails if the response is larger than the limit", async () => {
    const server = http((_, response) => response.end("x".repeat(100)));
    const url = `http://127.0.0.1:${await listening(server)}/`;
    expect((await request({ url, maxBytes: 100 })).text).toHaveLength(100);
    expect((await failing(request({ url, maxBytes: 99 }))).mayHaveArrived).toBe(true);
  });
});
