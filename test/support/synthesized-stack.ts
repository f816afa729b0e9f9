// The CloudFormation templates of the service as one list of resources. Parameters and outputs of
// nested stacks are replaced by their values.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { App, type CfnStack, NestedStack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { CURRENTLY_RECOMMENDED_FLAGS } from "aws-cdk-lib/cx-api";
import { workers } from "../../functions/queue-workers.ts";
import { groups } from "../../functions/route-groups.ts";
import { schedules } from "../../functions/schedules.ts";
import { parseSettings } from "../../infra/aws/settings.ts";
import { PennymailStack, type ServiceDefinition } from "../../infra/aws/stack.ts";
import { queues } from "../../shared/queues.ts";

export interface StackResource<P> {
  id: string;
  Type: string;
  Properties: P;
  DeletionPolicy?: string;
}
export interface IamStatement {
  Effect: "Allow" | "Deny";
  actions: string[];
  resources: string[];
}
export interface LambdaProperties {
  Description: string;
  Environment: { Variables: Record<string, unknown> };
  Role: unknown;
  Timeout: number;
}

export const serviceTables: ServiceDefinition = { groups, queues, workers, schedules };

/** `context` contains the settings of the option -c of cdk. */
export function synthesizeStack(
  dist: string,
  context: Record<string, string> = {},
  tables: ServiceDefinition = serviceTables,
) {
  process.env.CDK_VALIDATION = "false";
  const app = new App({
    outdir: mkdtempSync(join(dist, "cdk-")),
    context: { ...CURRENTLY_RECOMMENDED_FLAGS, "aws:cdk:disable-asset-staging": true },
  });
  const settings = parseSettings((name) => context[name]);
  const stack = new PennymailStack(app, tables, { settings, dist });
  const root = Template.fromStack(stack).toJSON();
  const nested = new Map(
    stack.node
      .findAll()
      .filter((node): node is NestedStack => NestedStack.isNestedStack(node))
      .map((inner) => [
        stack.getLogicalId(inner.nestedStackResource as CfnStack),
        Template.fromStack(inner).toJSON(),
      ]),
  );
  /** Replaces references of the root stack, or of one of the nested stacks. */
  const resolved = (value: unknown, within?: string): unknown =>
    replaceReferences(value, ({ Ref, "Fn::GetAtt": [id = "", name = ""] = [] }) => {
      const given = within && Ref ? root.Resources[within].Properties.Parameters?.[Ref] : undefined;
      if (given !== undefined) return resolved(given);
      const output = nested.get(id)?.Outputs?.[name.replace(/^Outputs\./, "")];
      return output && resolved(output.Value, id);
    });
  const everything = [
    ...listResources(resolved(root) as typeof root),
    ...[...nested].flatMap(([id, template]) =>
      listResources(resolved(template, id) as typeof root),
    ),
  ];
  return new SynthesizedStack(
    everything,
    [root, ...nested.values()].map((template) => listResources(template).length),
    root.Outputs,
  );
}

/** Writes bundles without code, each with this reach, to a folder within another. */
export function createEmptyBundles(
  { groups, workers, schedules }: ServiceDefinition,
  reach: object,
  within: string,
): string {
  const dist = mkdtempSync(join(within, "empty-"));
  const bundles = [
    "http/fallback",
    ...groups.map(({ name }) => `http/${name}`),
    ...workers.map(({ queue }) => `queue/${queue.name}`),
    ...schedules.map(({ name }) => `schedule/${name}`),
  ];
  for (const bundle of bundles) mkdirSync(join(dist, bundle), { recursive: true });
  writeFileSync(
    join(dist, "reach.json"),
    JSON.stringify(Object.fromEntries(bundles.map((bundle) => [bundle, reach]))),
  );
  return dist;
}

const listResources = (template: { Resources?: object }) =>
  Object.entries(template.Resources ?? {}).map(
    ([id, resource]) => ({ id, ...resource }) as StackResource<object>,
  );

interface StackReference {
  Ref?: string;
  "Fn::GetAtt"?: string[];
}

/** Replaces all references whose value is known. */
function replaceReferences(value: unknown, known: (reference: StackReference) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => replaceReferences(each, known));
  return (
    known(value) ??
    Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, replaceReferences(each, known)]),
    )
  );
}

export class SynthesizedStack {
  private readonly everything: StackResource<object>[];
  /** The number of resources of each stack. */
  readonly sizes: number[];
  readonly outputs: Record<string, { Value: unknown }>;

  constructor(
    resources: StackResource<object>[],
    sizes: SynthesizedStack["sizes"],
    outputs: SynthesizedStack["outputs"],
  ) {
    this.everything = resources;
    this.sizes = sizes;
    this.outputs = outputs;
  }

  findAll<P>(type: string): StackResource<P>[] {
    return this.everything.filter(({ Type }) => Type === type) as StackResource<P>[];
  }

  findOne<P>(type: string): StackResource<P> {
    const found = this.findAll<P>(type);
    if (found.length !== 1) throw new Error(`There are ${found.length} of ${type}`);
    return found[0]!;
  }

  /** Functions by bundle, such as `http/account`. */
  functions(): Map<string, StackResource<LambdaProperties>> {
    const found = this.findAll<LambdaProperties>("AWS::Lambda::Function");
    return new Map(found.map((fn) => [fn.Properties.Description.split(": ")[1]!, fn]));
  }

  /**
   * The permissions of a function's role. Resources are texts like `StoreTable.Arn/index/due`.
   */
  permissionsOf(bundle: string): IamStatement[] {
    const role = logicalIdOf(this.functions().get(bundle)!.Properties.Role);
    return this.findAll<{
      Roles: { Ref: string }[];
      PolicyDocument: { Statement: Record<string, unknown>[] };
    }>("AWS::IAM::Policy")
      .filter(({ Properties }) => Properties.Roles.some(({ Ref }) => Ref === role))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
      .map(({ Effect, Action, Resource }) => ({
        Effect: Effect as "Allow",
        actions: [Action].flat() as string[],
        resources: [Resource].flat().map(referenceText),
      }));
  }
}

/** The logical id that a `Ref` or `Fn::GetAtt` names. */
export const logicalIdOf = (reference: unknown): string | undefined =>
  referenceText(reference).split(".")[0];

export function referenceText(value: unknown): string {
  if (typeof value === "string") return value;
  const {
    Ref,
    "Fn::GetAtt": attribute,
    "Fn::Join": join,
  } = value as { Ref?: string; "Fn::GetAtt"?: string[]; "Fn::Join"?: [string, unknown[]] };
  if (join) return join[1].map(referenceText).join(join[0]);
  return Ref ?? attribute!.join(".");
}
