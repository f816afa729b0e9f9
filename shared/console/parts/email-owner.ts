// The campaign whose own email is edited. It is the one place for subject and preview text.
import type { CampaignDetail } from "pennymail";
import { createContext, useContext } from "react";

type Owner = Pick<CampaignDetail, "id" | "name">;

export const EmailOwner = createContext<Owner | undefined>(undefined);

export const useEmailOwner = (): Owner | undefined => useContext(EmailOwner);
