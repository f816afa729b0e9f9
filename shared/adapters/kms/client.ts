// The clients of KMS and Secrets Manager.
import { KMSClient } from "@aws-sdk/client-kms";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { clientOptions } from "../aws-requests.ts";

let kmsClient: KMSClient | undefined;
export const kms = (): KMSClient => {
  kmsClient ??= new KMSClient(clientOptions());
  return kmsClient;
};

let secretsClient: SecretsManagerClient | undefined;
export const secretsManager = (): SecretsManagerClient => {
  secretsClient ??= new SecretsManagerClient(clientOptions());
  return secretsClient;
};
