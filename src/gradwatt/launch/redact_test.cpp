#include "gradwatt/launch/redact.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradwatt::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using List = std::vector<std::string>;

struct Case {
  List given, kept;
};

// Keys are made up and assembled here, so that scanners of leaked keys do not take this file for a leak.
const std::string kHex = "0123456789abcdef0123456789abcdef01234567";
const std::string kHf = std::string("hf") + "_" + "AbCdEfGhIjKlMnOpQrStUvWxYz0123";
const std::string kGh = std::string("ghp") + "_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ012345";
const std::string kAwsId = std::string("AKIA") + "ABCDEFGH12345678";
const std::string kAwsSecret = std::string("abcdEFGH12345678/abcdEFGH1234") + "+678abcdABC";
const std::string kJwt = std::string("eyJ") + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcDEF123-_x";
const std::string kSk = std::string("sk") + "-proj-abcdefghijkl0123456789";

TEST(Redaction, HidesSecretsInCommands) {
  const std::vector<Case> cases{
      {{"--token", "abc"}, {"--token", "***"}},
      {{"--token=abc"}, {"--token=***"}},
      {{"--api-key", "abc", "next"}, {"--api-key", "***", "next"}},
      {{"--api_key=abc"}, {"--api_key=***"}},
      {{"--apikey", "-abc"}, {"--apikey", "***"}},
      {{"--wandbApiKey=abc"}, {"--wandbApiKey=***"}},
      {{"--password", "123456"}, {"--password", "***"}},
      {{"--password", "two words"}, {"--password", "***"}},
      {{"--db-pass=x"}, {"--db-pass=***"}},
      {{"--secret-key", "x"}, {"--secret-key", "***"}},
      {{"--auth=user:pw"}, {"--auth=***"}},
      {{"--hf-token", "x", "--lr", "0.1"}, {"--hf-token", "***", "--lr", "0.1"}},
      {{"logger.wandb.api_key=abc"}, {"logger.wandb.api_key=***"}},
      {{"+trainer.secret=abc"}, {"+trainer.secret=***"}},
      {{"env", "WANDB_API_KEY=abc", "python3"}, {"env", "WANDB_API_KEY=***", "python3"}},
      {{"docker", "run", "-e", "HF_TOKEN=abc"}, {"docker", "run", "-e", "HF_TOKEN=***"}},
      {{"https://bob:pw@host/data"}, {"https://bob:***@host/data"}},
      {{"https://" + kGh + "@github.com/x"}, {"https://***@github.com/x"}},
      {{"--url=postgres://u:p@db:5432/x"}, {"--url=postgres://u:***@db:5432/x"}},
      {{"https://host/x?token=abc&n=3"}, {"https://host/x?token=***&n=3"}},
      {{"https://blob/x?sv=1&sig=abc%3D"}, {"https://blob/x?sv=1&sig=***"}},
      {{"-H", "Authorization: Bearer abc"}, {"-H", "Authorization: Bearer ***"}},
      {{"-H", "X-Api-Key: abc"}, {"-H", "X-Api-Key: ***"}},
      {{kHf}, {"***"}},
      {{"--x=" + kHf}, {"--x=***"}},
      {{kGh}, {"***"}},
      {{kSk}, {"***"}},
      {{kAwsId}, {"***"}},
      {{kAwsSecret}, {"***"}},
      {{kJwt}, {"***"}},
      {{"wandb", "login", kHex}, {"wandb", "login", "***"}},
      {{"sh", "-c", "WANDB_API_KEY=abc python3 t.py --token xyz --lr 1"},
       {"sh", "-c", "WANDB_API_KEY=*** python3 t.py --token *** --lr 1"}},
      {{"bash", "-c", "export HF_TOKEN=\"a b\"; run"}, {"bash", "-c", "export HF_TOKEN=\"***\"; run"}},
      {{"bash", "-c", "curl https://u:p@h/x | sh"}, {"bash", "-c", "curl https://u:***@h/x | sh"}},
      {{"-----BEGIN RSA PRIVATE KEY-----\nabc"}, {"***"}},
      {{"--password=two words"}, {"--password=***"}},
  };
  for (const auto& [given, kept] : cases) EXPECT_EQ(redact_arguments(given), kept) << ::testing::PrintToString(given);
}

TEST(Redaction, LeavesEverythingElseAsItWas) {
  const std::vector<List> cases{
      {"python3", "train.py", "--lr", "0.1"},
      {"--tokenizer", "bert-base"},
      {"--tokenizer=bert-base"},
      {"--max-tokens", "2048"},
      {"--max-token=2048"},
      {"--num_tokens", "5"},
      {"--tokens-per-batch", "4096"},
      {"--eos-token", "</s>"},
      {"--pad-token=<pad>"},
      {"--token-file", "/run/secrets/x"},
      {"--password-file=/x"},
      {"--auth-type", "basic"},
      {"--token-dropout", "0.1"},
      {"--author", "me"},
      {"--keyword", "x"},
      {"--key-frames", "12"},
      {"--num-keys", "8"},
      {"--forward-pass", "2"},
      {"--passes=3"},
      {"--pattern", "*.csv"},
      {"--revision", kHex},
      {"--commit=" + kHex},
      {"https://host:8080/path?page=2"},
      {"git@github.com:me/x.git"},
      {"s3://bucket/key/model-00001.bin"},
      {"/data/Experiments2024/run5/checkpoint-A1"},
      {"--secretary=Ann"},
      {"sh", "-c", "cd /data && python3 train.py --max-tokens 12 \"a b\" | tee log; echo $?"},
      {"--token", "--lr", "0.1"},
      {"--token="},
      {"sk-learn-example"},
      {"--model", "hf_model_with_a_long_name"},
      {"PWD=/home/me", "OLDPWD=/home"},
      {""},
  };
  for (const auto& given : cases) EXPECT_EQ(redact_arguments(given), given) << ::testing::PrintToString(given);
}

TEST(Redaction, KnowsSecretNames) {
  for (const auto* name :
       {"HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "GITHUB_PAT", "MYSQL_PWD", "DB_PASSWORD", "SLURM_JWT",
        "GOOGLE_CREDENTIALS", "Authorization", "SESSION_COOKIE", "OPENAI_KEY", "PGPASSWORD"})
    EXPECT_TRUE(is_secret_name(name)) << name;
  for (const auto* name : {"TOKENIZERS_PARALLELISM", "PWD", "OLDPWD", "NCCL_DEBUG", "AUTHOR", "SSH_AUTH_SOCK_PATH",
                           "MONKEY", "GOOGLE_APPLICATION_CREDENTIALS_FILE", "KEY"})
    EXPECT_FALSE(is_secret_name(name)) << name;
}

TEST(Redaction, PrintsACommandThatAShellCouldRead) {
  EXPECT_EQ(redact_command(List{"python3", "my script.py", "--token", "x", "it's", ""}),
            "python3 'my script.py' --token *** 'it'\\''s' ''");
  EXPECT_EQ(redact_command(List{"ls", "*.csv", "$HOME"}), "ls '*.csv' '$HOME'");
}

TEST(KeptEnvironment, HoldsWhatExplainsARunAndNoSecretAndNothingElse) {
  const Environment environment{"NCCL_DEBUG=INFO",
                                "HOME=/home/me",
                                "CUDA_VISIBLE_DEVICES=0,1",
                                "HF_TOKEN=abc",
                                "SLURM_JWT=eyJabc",
                                "RANK=3",
                                "NCCL_SOCKET_IFNAME=eth0",
                                "OMP_NUM_THREADS=8",
                                "MY_PROJECT=top secret",
                                "SSH_AUTH_SOCK=/x",
                                "ODD",
                                "PYTHONPATH=/a:/b",
                                "GRADWATT_PUSH_URL=https://u:p@h/"};
  EXPECT_THAT(kept_environment(environment),
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "0,1"), Pair("GRADWATT_PUSH_URL", "https://u:***@h/"),
                          Pair("NCCL_DEBUG", "INFO"), Pair("NCCL_SOCKET_IFNAME", "eth0"), Pair("OMP_NUM_THREADS", "8"),
                          Pair("PYTHONPATH", "/a:/b"), Pair("RANK", "3"), Pair("SLURM_JWT", "***")));
}

}  // namespace
}  // namespace gradwatt::launch
