// Creates a self-signed X.509 certificate, so that the service verifies SNS messages of the sandbox
// like those of Amazon.
import { createPrivateKey, createPublicKey, randomBytes, sign } from "node:crypto";
import * as clock from "../../../shared/clock.ts";

/** PEM certificate for an RSA private key (PEM), valid from yesterday for 20 years. */
export function createSelfSignedCert(privateKeyPem: string, commonName: string): string {
  const key = createPrivateKey(privateKeyPem);
  const name = sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(commonName)))));
  const tbsCertificate = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    sha256WithRsa,
    name,
    sequence(utcTime(clock.addSeconds(-86_400)), utcTime(clock.addSeconds(20 * 365 * 86_400))),
    name,
    createPublicKey(key).export({ type: "spki", format: "der" }),
  );
  const signature = der(
    0x03,
    Buffer.concat([Buffer.from([0]), sign("sha256", tbsCertificate, key)]),
  );
  return pem(sequence(tbsCertificate, sha256WithRsa, signature));
}

function der(tag: number, content: Buffer): Buffer {
  const size = content.length < 128 ? [content.length] : longSize(content.length);
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const longSize = (length: number) =>
  length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts));
const integer = (bytes: Buffer) => der(0x02, bytes);
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const sha256WithRsa = sequence(oid("2a864886f70d01010b"), der(0x05, Buffer.alloc(0)));
const utcTime = (at: Date) =>
  der(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, "").slice(2, 14)}Z`));
const pem = (bytes: Buffer) =>
  "-----BEGIN " +
  `CERTIFICATE-----\n${bytes.toString("base64").replace(/.{64}/g, "$&\n").trimEnd()}\n-----END ` +
  "CERTIFICATE-----\n";
