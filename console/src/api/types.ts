// Short names for the types that are generated from the OpenAPI document.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Accepted = Schemas["Accepted"];
export type AskedStep = Schemas["AskedStep"];
export type BudgetUsed = Schemas["BudgetUsed"];
export type Cost = Schemas["Cost"];
export type Decision = Pick<Schemas["DecisionBody"], "verdict" | "shown"> & Partial<Schemas["DecisionBody"]>;
export type AuditVerdict = Schemas["AuditVerdict"];
export type DiffStep = Schemas["DiffStep"];
export type EffectView = Schemas["EffectView"];
export type Effects = Schemas["Effects"];
export type FleetView = Schemas["FleetView"];
export type ForkedView = Schemas["ForkedView"];
export type Gesture = Pick<Schemas["GestureBody"], "kind"> & Partial<Schemas["GestureBody"]>;
export type HandledView = Schemas["HandledView"];
export type LessonView = Schemas["LessonView"];
export type Look = Schemas["Look"];
export type Me = Schemas["Me"];
export type Observation = Schemas["Observation"];
export type PlanDiffView = Schemas["PlanDiffView"];
export type PlanRow = Schemas["PlanRow"];
export type PlanView = Schemas["PlanView"];
export type Problem = Schemas["Problem"];
export type QuestionPage = Schemas["QuestionPage"];
export type QuestionView = Schemas["QuestionView"];
export type ReplayView = Schemas["ReplayView"];
export type Row = Schemas["Row"];
export type RowChange = Schemas["RowChange"];
export type RunPage = Schemas["RunPage"];
export type RunRow = Schemas["RunRow"];
export type RunStarted = Schemas["RunStarted"];
export type RunView = Schemas["RunView"];
export type SettingRow = Schemas["SettingRow"];
export type SignInMethods = Schemas["SignInWays"];
export type Spent = Schemas["Spent"];
export type StepView = Schemas["StepView"];
export type TaskRow = Schemas["TaskRow"];
export type Zone = Schemas["Zone"];
export type TurnLine = Schemas["TurnLine"];
export type TurnMessage = Schemas["TurnMessage"];

export type Argument = Row["value"];
export type Scalar = Exclude<Argument, object>;
export type RunState = RunRow["state"];
export type VerdictName = Decision["verdict"];
export type StreamMessage = TurnMessage | Schemas["RewindMessage"] | Schemas["NoticeMessage"] | Schemas["EndMessage"];

