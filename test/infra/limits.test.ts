import { expect, inject, test } from "vitest";
import * as z from "zod";
import type { Tables } from "../../infra/aws/stack.ts";
import { consume } from "../../shared/consume.ts";
import { every } from "../../shared/every.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { queues } from "../../shared/queues.ts";
import type {} from "../support/built.ts";
import { bundlesOf, synthesized } from "../support/template.ts";

// CloudFormation takes 500; the rest is room for what a stack needs beside its tables.
const most = 450;

test("every stack has less than 450 resources", () => {
  const { sizes } = synthesized(inject("dist"), { stage: "prod", alarmEmail: "ops@example.com" });
  expect(Math.max(...sizes)).toBeLessThan(most);
});

test("300 routes in 50 groups, 18 queues and 12 ticks will still fit", () => {
  const tables = grown({ groups: 50, routes: 300, queues: 18, ticks: 12 });
  const context = {
    stage: "prod",
    alarmEmail: "ops@example.com",
    domainName: "mail.example.com",
    certificateArn: "arn:aws:acm:eu-west-1:1:certificate/1",
  };
  const everything = {
    commands: ["Get", "Query", "Put", "SendMessageBatch", "Encrypt", "GetObject"],
    statements: ["INSERT"],
    queues: ["q0"],
    shelves: ["due"],
  };
  const service = synthesized(bundlesOf(tables, everything, inject("dist")), context, tables);
  expect(service.all("AWS::ApiGatewayV2::Route")).toHaveLength(300 + 1);
  expect(service.functions().size).toBe(50 + 1 + 18 + 12);
  expect(Math.max(...service.sizes)).toBeLessThan(most);
});

const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);

function grown(n: { groups: number; routes: number; queues: number; ticks: number }): Tables {
  const work = async () => {};
  const routes = numbers(n.routes).map((i) => route(`GET /r${i}`, "One of many", { returns: z.null(), handle: async () => null }));
  const many = numbers(n.queues).map((i) => ({ ...queues.send, name: `q${i}` }));
  return {
    groups: numbers(n.groups).map((i) =>
      group(
        `g${i}`,
        routes.filter((_, r) => r % n.groups === i),
      ),
    ),
    queues: Object.fromEntries(many.map((queue) => [queue.name, queue])),
    workers: many.map((queue) => consume(queue, work)),
    ticks: numbers(n.ticks).map((i) => every(1, `t${i}`, work)),
  };
}
