import "../quick-passwords.ts";
import "../../../shared/domain/reactions.ts";
import { inject } from "vitest";
import type {} from "./engines.ts";

Object.assign(process.env, inject("settings"));
