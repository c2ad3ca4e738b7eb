// The worker of add-or-concatenate/embed, which package.ts has as text.
import { answerQuestions } from './program.js';

answerQuestions();
