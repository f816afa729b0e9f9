import { join } from "node:path";
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as Lambda,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { BundleUsage } from "./bundle-usage.ts";
import { grantPermissions } from "./grants.ts";
import type { StackSettings } from "./settings.ts";
import type { StatefulResources } from "./stateful-resources.ts";

/** What every function needs from the rest of the stack. */
export interface FunctionContext {
  settings: StackSettings;
  store: StatefulResources;
  /** The output folder of infra/aws/build.ts. */
  dist: string;
  /** By bundle: `http/account`. */
  usageByBundle: Record<string, BundleUsage>;
  /** The public origin of the service. */
  publicUrl: string;
}

interface FunctionOptions {
  bundle: string;
  timeoutSeconds: number;
  /** 1,769 MB gives one vCPU; less memory gives a share of it. */
  memoryMegabytes: number;
  /** The function may trigger itself repeatedly. AWS stops other functions after 16 rounds. */
  allowsRecursion?: true;
}

/**
 * Creates the function of one entry point, with its log group and a role with the permissions that
 * the bundle needs.
 */
export function createFunction(
  scope: Construct,
  context: FunctionContext,
  { bundle, timeoutSeconds, memoryMegabytes, allowsRecursion }: FunctionOptions,
): Lambda {
  const id = bundle.replace("/", "-");
  const usage = context.usageByBundle[bundle];
  if (!usage) throw new Error(`There is no bundle ${bundle} in ${context.dist}: npm run build`);
  const logGroup = new LogGroup(scope, `${id}-logs`, {
    retention: RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  // The default role of CDK may write to every log group of the account.
  const role = new Role(scope, `${id}-role`, {
    assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
  });
  logGroup.grantWrite(role);
  const fn = new Lambda(scope, id, {
    description: `Pennymail ${context.settings.stage}: ${bundle}`,
    code: Code.fromAsset(join(context.dist, bundle)),
    handler: "index.handler",
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: memoryMegabytes,
    timeout: Duration.seconds(timeoutSeconds),
    role,
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    applicationLogLevelV2: ApplicationLogLevel.INFO,
    systemLogLevelV2: SystemLogLevel.WARN,
    ...(allowsRecursion && { recursiveLoop: RecursiveLoop.ALLOW }),
    environment: { ...commonEnvironment(context), ...extraEnvironment[bundle]?.(context) },
  });
  grantPermissions(fn, usage, context);
  return fn;
}

/** Environment variables of single functions. */
const extraEnvironment: Record<string, (context: FunctionContext) => Record<string, string>> = {
  "http/stock-photos": ({ settings: { pexelsApiKey } }) =>
    pexelsApiKey ? { PEXELS_API_KEY: pexelsApiKey } : {},
};

function commonEnvironment({
  settings,
  store,
  publicUrl,
}: FunctionContext): Record<string, string> {
  const {
    signup,
    emailVerification,
    defaultPlan,
    stripeSecret,
    allowedOrigins,
    operators,
    systemSender,
    brandingUrl,
    providerUrls = {},
  } = settings;
  return {
    PUBLIC_URL: publicUrl,
    SIGNUP: signup,
    // Always set, because most functions do not know whether there is a Stripe secret.
    DEFAULT_PLAN: defaultPlan ?? (signup === "first" && !stripeSecret ? "unlimited" : "free"),
    ...(emailVerification && { EMAIL_VERIFICATION: emailVerification }),
    ...(allowedOrigins && { ALLOWED_ORIGINS: allowedOrigins }),
    ...(operators && { OPERATORS: operators }),
    ...(systemSender && { SYSTEM_SENDER: systemSender }),
    ...(brandingUrl && { BRANDING_URL: brandingUrl }),
    // Every function that commits or enqueues events must know of them.
    ...(store.eventBus && { EVENT_BUS_NAME: store.eventBus.eventBusName }),
    ...(store.eventFiles && { EVENT_FILES_BUCKET: store.eventFiles.bucketName }),
    ...Object.fromEntries(
      Object.entries(providerUrls).map(([key, url]) => [`PROVIDER_URL_${key.toUpperCase()}`, url]),
    ),
  };
}
