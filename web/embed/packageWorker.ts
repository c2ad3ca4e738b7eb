// The worker of add-or-concatenate/embed, which package.ts contains as text.
import { answerQuestions } from './program.js';

answerQuestions();
