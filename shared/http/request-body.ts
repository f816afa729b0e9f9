// Bodies of requests: how large they may be, and JSON as values.
import httpJsonBodyParser from "@middy/http-json-body-parser";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { invalid, Problem, tooLarge, unsupported } from "../errors.ts";
import { parsed, readable } from "../json.ts";
import { mayHold, reservedIn } from "../reserved-names.ts";
import type { Route } from "./route.ts";

// API Gateway takes 10 MB and Lambda 6, the local gateway as much as an account may send.
const bounds = {
  account: { bytes: 36 * 1024 * 1024, said: "36 MB" },
  /** From providers, who prove themselves by what they send. */
  proven: { bytes: 10 * 1024 * 1024, said: "10 MB" },
  anybody: { bytes: 100 * 1024, said: "100 KB" },
};
const boundOf = (route: Route | undefined) => bounds[route?.auth !== "public" ? "account" : route.raw ? "proven" : "anybody"];

/** Throws 413 when the body is larger than this route takes. */
export function checkSize(route: Route | undefined, rawBody: Buffer): void {
  const { bytes, said } = boundOf(route);
  if (rawBody.length > bytes) throw tooLarge(`The body is larger than ${said}`);
}

/** Puts the value of a JSON body in the body's place; without a body there is none. */
export function jsonParser(): (event: APIGatewayProxyEventV2, rawBody: Buffer) => void {
  const parser = httpJsonBodyParser();
  return (event, rawBody) => {
    if (!rawBody.length) return void delete event.body;
    const json = readable(rawBody);
    // First: the parser takes no __proto__, and does not say why.
    if (mayHold(json)) refuseReserved(parsed(json));
    Object.assign(event, { body: json, isBase64Encoded: false });
    parser.before?.({ event } as never);
  };
}

/** Throws 400 when a field, however deep, has a name that no field can have. */
function refuseReserved(value: unknown): void {
  const path = reservedIn(value)?.slice(0, 200);
  if (path === undefined) return;
  const message = `${path}: no field can have this name`;
  throw invalid(message, { details: [{ path, message }] });
}

/** The parser's errors in our words; any other error as it is. */
export function problemOf(error: unknown): unknown {
  const { statusCode } = error as { statusCode?: number };
  if (error instanceof Problem || !statusCode) return error;
  return statusCode === 415
    ? unsupported("The Content-Type must be application/json")
    : invalid("The body is not valid JSON", { code: "invalid_json" });
}
