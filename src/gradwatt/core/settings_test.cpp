#include "gradwatt/core/settings.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace gradwatt::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

namespace fs = std::filesystem;

class SettingsTest : public ::testing::Test {
 protected:
  SettingsTest() {
    folder_ = fs::temp_directory_path() / ("gradwatt-settings-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "home/.config/gradwatt");
    fs::create_directories(folder_ / "work");
  }
  ~SettingsTest() override { fs::remove_all(folder_); }

  void write(const char* name, const char* content) const { std::ofstream(folder_ / name) << content; }
  [[nodiscard]] SettingSources sources(std::vector<std::pair<std::string, std::string>> environment = {}) const {
    environment.emplace_back("HOME", (folder_ / "home").string());
    return usual_sources(std::move(environment), folder_ / "work");
  }
  const char* user_ = "home/.config/gradwatt/config.toml";
  const char* project_ = "work/gradwatt.toml";
  fs::path folder_;
};

TEST_F(SettingsTest, DefaultsHoldWhereNobodySaysOtherwise) {
  const auto settings = Settings::load(sources());
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->duration(setting("interval")), std::chrono::seconds(1));
  EXPECT_EQ(settings->path(setting("runs")), folder_ / "home/.local/share/gradwatt/runs");
  EXPECT_TRUE(settings->flag(setting("agent")));
  EXPECT_FALSE(settings->number(setting("pue")).has_value());
  EXPECT_FALSE(settings->count(setting("steps")).has_value());
  EXPECT_EQ(settings->value(setting("interval")).source, "default");
  EXPECT_THAT(settings->warnings(), SizeIs(0));
}

TEST_F(SettingsTest, EachLevelOverridesTheOneBelowAndSaysWhereItStands) {
  write(user_, "interval = '2s'\npue = 1.2\ncurrency = 'EUR'\nlive = true\n");
  write(project_, "# of this project\ninterval = 3\npue = 1.3\n");
  auto from = sources({{"GRADWATT_INTERVAL", "4s"}});
  auto settings = Settings::load(from);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->duration(setting("interval")), std::chrono::seconds(4));
  EXPECT_EQ(settings->value(setting("interval")).source, "GRADWATT_INTERVAL");
  EXPECT_EQ(settings->number(setting("pue")), 1.3);
  EXPECT_EQ(settings->value(setting("pue")).source, (folder_ / project_).string() + ":3");
  EXPECT_EQ(settings->text(setting("currency")), "EUR");
  EXPECT_EQ(settings->value(setting("currency")).source, (folder_ / user_).string() + ":3");
  EXPECT_TRUE(settings->flag(setting("live")));

  from.command_line.push_back({setting("interval"), "--interval", "500ms"});
  settings = Settings::load(from);
  EXPECT_EQ(settings->duration(setting("interval")), std::chrono::milliseconds(500));
  EXPECT_EQ(settings->value(setting("interval")).source, "--interval");
}

TEST_F(SettingsTest, ListsComeFromArraysTablesAndCommaText) {
  write(project_, "[sensors]\ninclude = ['nvml', 'rapl']\n");
  const auto settings = Settings::load(sources({{"GRADWATT_SENSORS_EXCLUDE", "model, proc"}}));
  ASSERT_TRUE(settings);
  EXPECT_THAT(settings->list(setting("sensors.include")), ElementsAre("nvml", "rapl"));
  EXPECT_THAT(settings->list(setting("sensors.exclude")), ElementsAre("model", "proc"));
}

TEST_F(SettingsTest, RelativePathsStartAtTheFileThatSaysThem) {
  write(user_, "runs = 'mine'\n");
  EXPECT_EQ(Settings::load(sources())->path(setting("runs")), folder_ / "home/.config/gradwatt/mine");
  EXPECT_EQ(Settings::load(sources({{"GRADWATT_RUNS", "here"}}))->path(setting("runs")), folder_ / "work/here");
}

TEST_F(SettingsTest, WithoutAHomeTheDefaultStoreIsUnknown) {
  const auto settings = Settings::load(usual_sources({}, folder_ / "work"));
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->path(setting("runs")).has_value());
}

TEST_F(SettingsTest, AnUnknownKeyIsAWarningThatNamesTheNearestOne) {
  write(project_, "intervall = '2s'\nxyzzy = 1979-05-27\n");
  const auto settings = Settings::load(sources({{"GRADWATT_INTERVALL", "1s"}, {"GRADWATT_MARKS", "/tmp/x"}}));
  ASSERT_TRUE(settings);
  ASSERT_THAT(settings->warnings(), SizeIs(3));
  EXPECT_THAT(settings->warnings()[0], HasSubstr("GRADWATT_INTERVALL is ignored; did you mean GRADWATT_INTERVAL?"));
  EXPECT_THAT(settings->warnings()[1], HasSubstr("gradwatt.toml:1: unknown setting 'intervall'"));
  EXPECT_THAT(settings->warnings()[1], HasSubstr("did you mean 'interval'?"));
  EXPECT_THAT(settings->warnings()[2], HasSubstr(":2: unknown setting 'xyzzy' is ignored; `gradwatt config`"));
}

struct BadValue {
  const char* content;
  const char* message;
};
class BadValueTest : public SettingsTest, public ::testing::WithParamInterface<BadValue> {};
TEST_P(BadValueTest, NamesFileLineAndWhatIsAllowed) {
  write(project_, GetParam().content);
  const auto settings = Settings::load(sources());
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, Errc::wrong_use);
  EXPECT_THAT(settings.error().message, HasSubstr(GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(
    All, BadValueTest,
    ::testing::Values(BadValue{"\ninterval = 0",
                               "gradwatt.toml:2: interval is '0', but must be a time of at least 10.0 ms"},
                      BadValue{"interval = '-1s'", "gradwatt.toml:1: interval is '-1s'"},
                      BadValue{"interval = 'soon'", "interval is 'soon'"}, BadValue{"interval = ''", "interval is ''"},
                      BadValue{"interval = nan", "interval is 'nan'"},
                      BadValue{"interval = 1979-05-27", "interval must be a time"},
                      BadValue{"pue = 0.9", "must be a number of at least 1"},
                      BadValue{"pue = inf", "must be a number of at least 1"},
                      BadValue{"steps = 1.5", "must be a whole number of at least 1"},
                      BadValue{"live = 'perhaps'", "must be on or off"},
                      BadValue{"[sensors]\ninclude = [1]", "gradwatt.toml:2: sensors.include must be a text"}));

TEST_F(SettingsTest, ABadEnvironmentVariableIsNamed) {
  const auto settings = Settings::load(sources({{"GRADWATT_INTERVAL", "never"}}));
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, HasSubstr("GRADWATT_INTERVAL: interval is 'never'"));
}

TEST_F(SettingsTest, AnEmptyFileSaysNothingAndAFolderIsRefused) {
  write(project_, "");
  EXPECT_TRUE(Settings::load(sources()));
  fs::remove(folder_ / project_);
  fs::create_directory(folder_ / project_);
  const auto settings = Settings::load(sources());
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, HasSubstr("cannot read the settings in"));
}

TEST_F(SettingsTest, AFileThatIsNotTomlIsRefusedWithItsLine) {
  write(project_, "interval = '1s'\nthis is not toml\n");
  const auto settings = Settings::load(sources());
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, Errc::unusable_input);
  EXPECT_THAT(settings.error().message, HasSubstr("gradwatt.toml:2: not a settings file"));
}

TEST(SettingTable, EveryDefaultIsValidAndEveryRowSaysWhatItIsFor) {
  for (const auto& row : table::kSettings) {
    EXPECT_TRUE(row.environment.starts_with("GRADWATT_")) << row.key;
    EXPECT_FALSE(row.help.empty()) << row.key;
    EXPECT_FALSE(row.used_by.empty()) << row.key;
  }
}

}  // namespace
}  // namespace gradwatt::core
